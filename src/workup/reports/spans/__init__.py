"""The report of a span detector."""

PAGE = "page:SpansPage"
