"""Weights of leaves for severity_recall: how much harm each does when it leaks. Knows no spans and no counts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np

from workup.documents.labels import NAMES, SCHEME, canonical_name, leaves_of, read_shipped
from workup.errors import InputError
from workup.stats.arrays import Floats

PROTECTED = "CLIN"  # never to be masked, so never a miss


class Weight(NamedTuple):
    """One line of the table: a leaf, its weight from 1 to 10, and the reason in a sentence."""

    leaf: str
    weight: float
    why: str


@cache
def severity_table() -> tuple[Weight, ...]:
    """The shipped weights, in the order of the canonical scheme; reports show them as they are.

    >>> severity_table()[0]
    Weight(leaf='name_patient', weight=10.0, why='Names the patient; nothing more is needed')
    """
    table = read_shipped("severity.yaml")
    rows = {leaf: entry for leaves in table.values() for leaf, entry in leaves.items()}
    wanted = [leaf.name for leaf in SCHEME.values() if leaf.branch != PROTECTED]
    if set(rows) != set(wanted):
        raise InputError(
            "severity.yaml must weigh every leaf outside the clinical branch",
            got=f"no match on {', '.join(sorted(set(rows) ^ set(wanted)))}",
        )
    return tuple(Weight(leaf, float(rows[leaf]["weight"]), rows[leaf]["why"]) for leaf in wanted)


def severity_weights(own: Mapping[str, float] | None = None) -> Floats:
    """Weights by canonical code; a code of -1, a label without a canonical name, reads the last entry.

    A branch weighs as its heaviest leaf and a label without a name as the heaviest leaf of all: what it stands for may
    be just that. Clinical terms weigh nothing. `own` puts other weights, by leaf, in place of the shipped ones.

    >>> from workup.documents.labels import CODE
    >>> severity_weights()[[CODE["ssn"], CODE["state"], CODE["GEO"], CODE["drug"], -1]].tolist()
    [10.0, 1.0, 9.0, 0.0, 10.0]
    """
    return _shipped_weights() if not own else _weights({**_by_leaf(), **_checked(own)})


@cache
def _shipped_weights() -> Floats:
    found = _weights(_by_leaf())
    found.flags.writeable = False  # one array serves all callers
    return found


def _by_leaf() -> dict[str, float]:
    return {row.leaf: row.weight for row in severity_table()}


def _weights(by_leaf: Mapping[str, float]) -> Floats:
    of_names = [max(by_leaf.get(leaf, 0.0) for leaf in leaves_of(name)) for name in NAMES]
    return np.array([*of_names, max(by_leaf.values())], dtype=np.float64)


def _checked(own: Mapping[str, float]) -> dict[str, float]:
    for name, weight in own.items():
        leaf = SCHEME.get(canonical_name(name, where="severity weights"))
        if leaf is None or leaf.branch == PROTECTED:
            raise InputError("a severity weight must belong to a leaf outside the clinical branch", got=name[:60])
        if not (np.isfinite(weight) and weight > 0):
            raise InputError("a severity weight must be a positive number", where=f"leaf '{name}'", got=f"{weight:g}")
    return {name: float(weight) for name, weight in own.items()}
