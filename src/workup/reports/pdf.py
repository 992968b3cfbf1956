"""Report → PDF on A4, from the same page as the HTML file, through WeasyPrint (extra 'pdf')."""

from __future__ import annotations

from typing import Any, NoReturn

from workup.errors import MissingExtra
from workup.report import Report
from workup.reports import html


def render(report: Report) -> bytes:
    """The whole report as PDF; rows and charts are never cut by the end of a page."""
    draw = writer()
    page = html.render(report, interactive=False)
    made: bytes = draw(string=page, url_fetcher=_nothing).write_pdf()
    return made


def writer() -> Any:
    """What draws pages, or an error that names the extra which brings it."""
    try:
        from weasyprint import HTML  # type: ignore[import-untyped,unused-ignore]
    except (ImportError, OSError) as error:  # OSError: the Pango libraries of the system are absent
        purpose = "a report as PDF" if isinstance(error, ImportError) else "a report as PDF (with the system's Pango)"
        raise MissingExtra("weasyprint", extra="pdf", purpose=purpose) from None
    return HTML


def _nothing(url: str, *_: Any) -> NoReturn:
    """The page holds all it needs; anything else that would be fetched is refused."""
    raise ValueError("a report fetches nothing")
