"""The surface forms of every leaf, one module per kind of leaf."""
