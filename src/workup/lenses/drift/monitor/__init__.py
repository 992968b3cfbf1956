"""A monitor that sees one window after another and keeps no row of any."""
