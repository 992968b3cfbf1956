"""Durations as studies write them: a number with its unit, such as 30min, 24h or 90d. Kept as whole microseconds."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

_MICROSECONDS = {"min": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
_WRITTEN = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*(min|h|d)")
_LONGEST = 200 * 366 * _MICROSECONDS["d"]  # longer than a life: a slip of the unit


@dataclass(frozen=True, order=True)
class Duration:
    """A length of time. Settings hold and records show the text as it was written.

    >>> Duration.of("90min").hours, Duration.of("1.5h") == Duration.of("90min"), str(Duration.of("24h"))
    (1.5, True, '24h')
    """

    microseconds: int
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text

    @property
    def hours(self) -> float:
        """In hours."""
        return self.microseconds / _MICROSECONDS["h"]

    @property
    def days(self) -> float:
        """In days."""
        return self.microseconds / _MICROSECONDS["d"]

    @classmethod
    def of(cls, written: Any) -> Duration:
        """Read one; a bare number is refused, since nobody could tell hours from days.

        >>> Duration.of(24)
        Traceback (most recent call last):
        ...
        ValueError: expected a duration with its unit (min, h or d), such as 30min, 24h or 90d; got a bare number
        """
        if isinstance(written, Duration):
            return written
        expected = "expected a duration with its unit (min, h or d), such as 30min, 24h or 90d"
        if isinstance(written, (int, float)) and not isinstance(written, bool):
            raise ValueError(f"{expected}; got a bare number")
        found = _WRITTEN.fullmatch(written.strip()) if isinstance(written, str) else None
        if found is None:
            if isinstance(written, str) and re.fullmatch(r"[\d.]+", written.strip()):
                raise ValueError(f"{expected}; got a bare number")
            raise ValueError(f"{expected}; got something else")
        length = Fraction(found[1]) * _MICROSECONDS[found[2]]
        if length.denominator != 1:
            raise ValueError("a duration must be a whole number of microseconds; give fewer decimals")
        if length > _LONGEST:
            raise ValueError("a duration must be shorter than two hundred years; the unit may be wrong")
        return cls(int(length), found[1] + found[2])

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls.of, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "pattern": f"^{_WRITTEN.pattern}$"}
