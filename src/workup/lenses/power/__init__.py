"""The power lens, and plans made before any data are seen."""
