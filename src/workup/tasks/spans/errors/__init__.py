"""What went wrong, without saying what was written: shapes, kinds of error, what stayed visible, what turned up again.

Pure functions over texts and offsets. Nothing they answer holds text of a document; they know no report."""
