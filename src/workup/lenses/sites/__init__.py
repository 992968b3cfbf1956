"""The sites lens: every site by itself, then pooled, and what a new site may expect."""
