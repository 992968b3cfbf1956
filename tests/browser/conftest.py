"""One browser for the pages of a module."""

from __future__ import annotations

from tests.support.browser_pages import browser

__all__ = ["browser"]
