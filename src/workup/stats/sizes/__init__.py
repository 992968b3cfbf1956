"""Sample sizes and power, from closed forms and by simulation."""
