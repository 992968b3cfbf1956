"""The version of Workup, in its one place: the package, its metadata and its records read it here."""

__version__ = "0.1.0"
