"""Report to text, Markdown and pages, drawn from the record alone."""
