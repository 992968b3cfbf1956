"""Changes of the tables from one version to the next, run by the store alone."""
