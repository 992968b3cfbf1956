"""What a user says of the columns of a table, and the plan that is told before a table is read for identifiers."""

from __future__ import annotations

from collections.abc import Sequence

from workup.cli.common import say
from workup.redaction.files import Source

TEXT_COLUMN = "Column of a table that is text; repeat for several"
ID_COLUMN = "Column of a table that identifies, as NAME or NAME=LEAF; repeat for several"
KEEP_COLUMN = "Column of a table that stays as it is; repeat for several"
PATIENT_COLUMN = "Column of a table that tells whose a row is; found by its name when absent"
_TREATED = {
    "key": "whose row it is, replaced by a pseudonym",
    "identifier": "identifies, replaced as a whole",
    "text": "text, in which identifiers are looked for",
    "kept": "stays as it is",
}


def tell_plans(sources: Sequence[Source]) -> None:
    """What each column or element is treated as, for the person at the terminal."""
    for source in sources:
        if source.container is None:
            continue
        say("What is looked at:")
        for one in source.container.plan:
            leaf = f" [{one['leaf']}]" if one["leaf"] else ""
            say(f"  {one['column']}: {_TREATED[one['treated']]}{leaf} ({one['why']})")
