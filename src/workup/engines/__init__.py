"""Where maps run. Reached through workup.plugins."""
