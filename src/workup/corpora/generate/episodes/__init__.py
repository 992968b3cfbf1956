"""Stays with repeated scores and a planted event, with what every alarm metric ought to find in them."""
