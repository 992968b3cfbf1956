"""Bad input is refused before anything is made, with what to do about it."""

from __future__ import annotations

from typing import Any

import pytest

from workup.corpora.generate.notes import generate
from workup.errors import InputError


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"count": 0}, "count must be a whole number from 1"),
        ({"count": -3}, "count must be a whole number from 1"),
        ({"count": True}, "count must be a whole number"),
        ({"count": 2.5}, "count must be a whole number"),
        ({"count": 10**9}, "count must be a whole number"),
        ({"seed": -1}, "seed must be a whole number from 0"),
        ({"length": "huge"}, "length must be one of"),
        ({"density": "extreme"}, "density must be one of"),
        ({"density": 0.5}, "density must be one of"),
        ({"ambiguity": "some"}, "ambiguity must be one of"),
        ({"swap": "names"}, "swap must be one of"),
        ({"types": ["discharge_sumary"]}, "did you mean 'discharge_summary'"),
        ({"types": "discharge_summary"}, "types must be a list"),
        ({"specialties": ["cardiolgy"]}, "did you mean 'cardiology'"),
        ({"leaves": ["name_pateint"]}, "did you mean 'name_patient'"),
        ({"leaves": ["disease"]}, "clinical terms are written in any case"),
        ({"leaves": []}, "leaves must name at least one"),
        ({"as_of": "tomorrow"}, "as-of must be a date or a time"),
        ({"phi_free": 1.5}, "phi_free must be a share"),
        ({"phi_free": "half"}, "phi_free must be a share"),
    ],
)
def test_what_cannot_be_is_named(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        generate(**{"count": 1, "seed": 1, **asked})


@pytest.mark.parametrize("as_of", ["2026-01-31", "2026-01-31T09:00:00+01:00", "2026-01-31T09:00:00Z"])
def test_times_are_kept_as_they_were_given(as_of: str) -> None:
    assert generate(1, seed=1, as_of=as_of).settings.as_of == as_of
