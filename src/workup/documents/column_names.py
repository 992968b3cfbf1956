"""What a column holds by its name: a canonical leaf, a part of a person's name, or whose row it is. Knows no value."""

from __future__ import annotations

import re
from functools import cache

from workup.documents.labels import SCHEME, branch_of, read_shipped

_OTHER = re.compile(r"[^a-z0-9]+")
_INNER_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_OWNER = re.compile(r"^(?:patient|pt|person|home)_(?=.)")
_NUMBERED = re.compile(r"_?\d{1,2}$")

_COMMON = ("quantity", "misc", "time", "date_relative")  # leaves that are words of other columns first


@cache
def _known() -> tuple[dict[str, str], frozenset[str]]:
    read = read_shipped("column_names.yaml")
    known = {leaf: leaf for leaf in SCHEME if branch_of(leaf) != "CLIN" and leaf not in _COMMON}
    known |= {name: kind for kind, names in read["columns"].items() for name in names.split()}
    return known, frozenset(read["keys"].split())


def plain(name: str) -> str:
    """The name of a column as names are compared.

    >>> plain("Date of Birth"), plain("patientLastName"), plain("MRN")
    ('date_of_birth', 'patient_last_name', 'mrn')
    """
    return _OTHER.sub("_", _INNER_CAPITAL.sub("_", name.strip()).lower()).strip("_")


def kind_of(name: str) -> str | None:
    """The leaf that a column of this name holds, with the part of a name behind a point; None where nothing is told.

    >>> kind_of("Patient Last Name"), kind_of("phone2"), kind_of("DOB"), kind_of("haemoglobin")
    ('name_patient.family', 'phone', 'date_birth', None)
    """
    known, _ = _known()
    whole = plain(name)
    tries = (whole, _NUMBERED.sub("", whole), _OWNER.sub("", whole), _NUMBERED.sub("", _OWNER.sub("", whole)))
    return next((known[one] for one in tries if one in known), None)


def is_key(name: str) -> bool:
    """Whether a column of this name tells whose a row is.

    >>> is_key("patient_id"), is_key("mrn")
    (True, False)
    """
    return plain(name) in _known()[1]


def leaf_of(kind: str) -> str:
    """The leaf of a kind, without the part of a name.

    >>> leaf_of("name_patient.given")
    'name_patient'
    """
    return kind.partition(".")[0]
