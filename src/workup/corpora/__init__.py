"""Where cases come from: readers and generators. Reached through workup.plugins."""
