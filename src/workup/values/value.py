"""One value that stands in a text, with its label and its surface form. Knows not how it was made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Identifier = Literal["direct", "quasi"]


@dataclass(frozen=True, slots=True)
class Value:
    """`text` is exactly what the gold span covers: no title, no possessive, no unit beside an age.

    `label` is a canonical leaf, `form` the name of the surface form. `entity` ties together the mentions of one thing
    over the notes of a patient. `identifier` says how it identifies (None where it does not, as of clinical terms).
    """

    text: str
    label: str
    form: str
    entity: str | None = None
    identifier: Identifier | None = None
    subtype: str | None = None
