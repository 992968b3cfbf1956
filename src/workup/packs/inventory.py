"""What a site's data hold (patients, groups, missing inputs, waiting rows, label delays) as far as it may be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workup.packs.counts import EVERYONE, Cells
from workup.packs.sent_packs import Sent
from workup.packs.suppression import Kept

_TAIL = 10  # the 90th percentile is exceeded by a tenth of the rows, and they must be at least k


def telling(
    held: Mapping[str, Any], cells: Cells, kept: Kept, *, k: int, reason: str, earlier: Sequence[Sent] = ()
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The holdings with small counts null, and the list of what was made null."""
    back = _Back(reason)
    everyone = EVERYONE in kept.slices
    found: dict[str, Any] = {}
    for measure in ("patients", "rows"):
        found[measure] = None if everyone else cells.sizes[measure].get(EVERYONE)
    if everyone:
        back.add({}, "patients and rows")
    waiting = held.get("waiting")
    found["waiting"] = waiting
    if waiting is not None and k > 1 and (waiting < k or _changed("waiting", waiting, earlier, k)):
        found["waiting"] = None
        back.add({}, "waiting rows")
    found["groups"] = {}
    for name, levels in (held.get("groups") or {}).items():
        if name in cells.unlisted:
            continue
        found["groups"][name] = {}
        for level, sizes in levels.items():
            hidden = (name, level) in kept.slices or (name, level) not in cells.sizes["rows"]
            found["groups"][name][level] = {size: None if hidden else sizes[size] for size in ("patients", "rows")}
            if hidden:
                back.add({name: level}, "patients and rows")
    found["inputs"] = [
        _input(row, cells, kept, k, everyone or _changed(f"input {row['input']}", row["missing"], earlier, k), back)
        for row in held.get("inputs") or ()
    ]
    found["label_delay_days"] = _delay(held, k, everyone, earlier, back)
    return found, back.rows


class _Back:
    def __init__(self, reason: str) -> None:
        self.rows: list[dict[str, Any]] = []
        self._reason = reason

    def add(self, keys: Mapping[str, Any], what: str) -> None:
        self.rows.append({"metric": None, "slice": dict(keys), "what": what, "reason": self._reason})


def _changed(name: str, n: int | None, earlier: Sequence[Sent], k: int) -> bool:
    """Was it told before, and has it changed by fewer than k since?"""
    return n is not None and any(0 < abs(n - one.others[name]) < k for one in earlier if name in one.others)


def _input(row: Mapping[str, Any], cells: Cells, kept: Kept, k: int, hide: bool, back: _Back) -> dict[str, Any]:
    """How complete an input is. A column may be a group as well as an input, under its own name or as bands of it, and
    then its missing values are a level: where that level is withheld, its count must not stand here. A record says
    which levels they are; that of an earlier version does not, and then equal counts are taken for the same people."""
    missing, rows = row["missing"], row["rows"]
    if missing is None:  # the record itself keeps it back
        hide, missing = True, 0
    own_group = any(who and who[0] == row["input"] for who in kept.slices)
    levels = [(name, level) for name, own in (row.get("missing_as") or {}).items() for level in own]
    hidden = any(who in kept.slices or who not in cells.sizes["rows"] for who in levels if who[0] not in cells.unlisted)
    hidden_sizes = {cells.sizes["rows"][who] for who in kept.slices if who in cells.sizes["rows"]}
    small = k > 1 and (missing < k or rows - missing < k)
    if hide or small or own_group or hidden or missing in hidden_sizes or rows - missing in hidden_sizes:
        back.add({"input": row["input"]}, "missing share")
        return {
            "input": row["input"],
            "missing": None,
            "rows": None if EVERYONE in kept.slices else rows,
            "share": None,
        }
    return {key: row[key] for key in ("input", "missing", "rows", "share")}


def _delay(
    held: Mapping[str, Any], k: int, everyone: bool, earlier: Sequence[Sent], back: _Back
) -> dict[str, Any] | None:
    """Quantiles are values of single rows; they are told where at least k rows lie beyond the outermost. How many rows
    have a delay says how many have none."""
    delay = held.get("label_delay_days")
    if delay is None:
        return None
    known = delay.get("rows")
    if k > 1 and (
        everyone
        or known is None
        or known < _TAIL * k
        or 0 < (held.get("rows") or known) - known < k
        or _changed("label delay", known, earlier, k)
    ):
        back.add({}, "label delay")
        return None
    return dict(delay)
