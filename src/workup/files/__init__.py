"""Files read and written safely: whole or not at all, within limits, with errors that say where."""
