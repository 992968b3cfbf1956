"""Houses: how the notes of one site look. Headings, bullets, dates and clocks of a site stay alike. Knows no text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class House:
    """The style of a site. `heading` and `bullet` are written with str.format."""

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


HOUSES: tuple[House, ...] = (
    House(
        "S1",
        heading="{}:\n",
        upper=True,
        short=False,
        gap="\n\n",
        bullet="- ",
        days=("us_slash", "us_slash", "long"),
        clock="clock_24",
        record="bare",
        age="{}-year-old",
    ),
    House(
        "S2",
        heading="{}: ",
        upper=False,
        short=False,
        gap="\n\n",
        bullet="{}. ",
        days=("us_slash_unpadded", "us_slash_unpadded", "short"),
        clock="clock_12",
        record="dashed",
        age="{} year old",
    ),
    House(
        "S3",
        heading="{}\n",
        upper=True,
        short=False,
        gap="\n\n",
        bullet="* ",
        days=("iso", "iso", "day_short_dash"),
        clock="military",
        record="padded",
        age="{}-year-old",
    ),
    House(
        "S4",
        heading="{}: ",
        upper=True,
        short=True,
        gap="\n",
        bullet="- ",
        days=("us_slash_two", "us_slash_unpadded_two", "month_day_slash"),
        clock="clock_24",
        record="seven",
        age="{} yo",
    ),
    House(
        "S5",
        heading="{}\n",
        upper=False,
        short=False,
        gap="\n\n",
        bullet="• ",
        days=("long", "long", "short_dot"),
        clock="clock_12_dots",
        record="letter",
        age="{}-year-old",
    ),
    House(
        "S6",
        heading="== {} ==\n",
        upper=False,
        short=False,
        gap="\n",
        bullet="{}) ",
        days=("day_short_year", "day_short_dash", "us_dash"),
        clock="clock_24",
        record="prefixed",
        age="{} y.o.",
    ),
    House(
        "S7",
        heading="{} - ",
        upper=True,
        short=True,
        gap="\n",
        bullet="-",
        days=("us_dash_two", "us_slash_two", "short_day"),
        clock="clock_12_tight",
        record="letter_dash",
        age="{}yo",
    ),
    House(
        "S8",
        heading="[{}]\n",
        upper=False,
        short=False,
        gap="\n\n",
        bullet="{}. ",
        days=("us_slash", "weekday_long", "month_day"),
        clock="clock_12",
        record="spaced",
        age="{}-year-old",
    ),
)
