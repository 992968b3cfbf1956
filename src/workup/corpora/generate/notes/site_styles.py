"""How the notes of one site look: its headings, bullets, dates and clocks stay alike. The styles are data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml


@dataclass(frozen=True, slots=True)
class SiteStyle:
    """The style of a site. `heading`, `bullet` and `age` are written with str.format."""

    site: str
    heading: str
    upper: bool
    short: bool
    gap: str
    bullet: str
    days: tuple[str, ...]
    clock: str
    record: str
    age: str


@cache
def site_styles() -> tuple[SiteStyle, ...]:
    """Those that notes are drawn from, in the order of the file.

    >>> site_styles()[2].heading, site_styles()[2].days
    ('{}\\n', ('iso', 'iso', 'day_short_dash'))
    """
    content = (files("workup.corpora.generate.notes") / "data" / "site_styles.yaml").read_text(encoding="utf-8")
    return tuple(SiteStyle(**{**row, "days": tuple(row["days"])}) for row in yaml.safe_load(content))
