"""Figures as a pack holds them: told, or withheld in words that say nothing of how many there were; and likewise what
the site's data hold (patients, groups, missing inputs, waiting rows, label delays)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workup.disclosure.figures import CountedFigures
from workup.disclosure.inference import Who
from workup.estimate import Estimate
from workup.packs.counts import EVERYONE, Cells, who_and_at
from workup.packs.sent_packs import Sent
from workup.packs.suppression import Kept
from workup.report import canonical

# What a figure without an interval says of itself may hold counts ("3 patients; ..."), so it is said in these words.
_WORDS = {
    "undefined": "the data of this site do not define it",
    "insufficient": "the data of this site are too few for an interval",
}
_COUNTS = ("clusters", "ceiling")  # how many patients have anything that counts, or what follows from it alone
_BY_SIZE = ("largest", "best")  # comparators that the data choose: to name one says how it compares with the others
_UNNAMED = "a level that is withheld"
_TAIL = 10  # the 90th percentile is exceeded by a tenth of the rows, and they must be at least k


class Publisher:
    """Writes the figures of a site, each told or withheld, and lists what was withheld.

    A report lists groups by size and compares the smaller of two with the larger; the order of rows, or a row that is
    not there, would then bound a count that is withheld. So rows are in the order of their names, and a gap that is
    withheld is listed for every withheld level.
    """

    def __init__(
        self,
        cells: Cells,
        kept: Kept,
        columns: Sequence[str],
        comparator: Any,
        reason: str,
        figures: CountedFigures,
    ) -> None:
        self.kept = kept
        self._figures = figures
        self._cells, self._columns, self._comparator, self._reason = cells, columns, comparator, reason
        self._back: dict[str, dict[str, Any]] = {}

    @property
    def withheld(self) -> list[dict[str, Any]]:
        """Each figure that was withheld, once, at whatever levels of confidence it stands."""
        return [self._back[key] for key in sorted(self._back)]

    def estimates(self, found: Iterable[Estimate]) -> list[dict[str, Any]]:
        """Every estimate of a column whose levels may be named."""
        return in_order(self._estimate(e) for e in found if self._listed(e.slice))

    def gaps(self, found: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Every gap, and one for each withheld level where the report has none."""
        rows: dict[str, dict[str, Any]] = {}
        for row in found:
            if self._listed(row["slice"]):
                for one in self._gap(row):
                    rows.setdefault(canonical([one[key] for key in ("metric", "slice", "against", "level")]), one)
        return in_order(rows.values())

    def _listed(self, keys: Mapping[str, Any]) -> bool:
        who, _ = who_and_at(keys, self._columns)
        return not who or who[0] not in self._cells.unlisted

    def _tells(self, who: Who, metric: str, at: Mapping[str, Any]) -> bool:
        if who not in self._cells.sizes["rows"]:
            return False  # the record itself does not count them
        cut = self._cells.thresholds.index(at["threshold"]) + 1 if "threshold" in at else 0
        return self.kept.tells(who, self._figures.sides_of(metric, at), cut)

    def _keep(self, metric: str, keys: Mapping[str, Any], what: str) -> None:
        row = {"metric": metric, "slice": dict(keys), "what": what, "reason": self._reason}
        self._back[canonical(row)] = row

    def _estimate(self, e: Estimate) -> dict[str, Any]:
        who, at = who_and_at(e.slice, self._columns)
        named = {"metric": e.metric, "slice": dict(e.slice), "level": e.level}
        if e.status != "withheld" and self._tells(who, e.metric, at):
            told = {name: figure for name, figure in e.as_dict().items() if name not in _COUNTS}
            return {**told, **named, "reason": _WORDS.get(e.status)}
        self._keep(e.metric, e.slice, "estimate")
        return {**named, "status": "withheld", "reason": self._reason}

    def _gap(self, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        """A gap is told where both sides are; the rest of a group is everyone less the group."""
        who, at = who_and_at(row["slice"], self._columns)
        others: list[Who] = [EVERYONE] if row["against"] in ("rest", "overall") else []
        if who and (who[0], str(row["against"])) in self._cells.sizes["rows"]:
            others.append((who[0], str(row["against"])))
        found = []
        told = bool(others) and all(self._tells(one, row["metric"], at) for one in (who, *others))
        told = told and row.get("status") != "withheld"
        if told:
            figures = {key: row[key] for key in ("value", "low", "high", "se", "p", "method")}
            status = "ok" if row["value"] is not None else "insufficient"
            named = {key: row[key] for key in ("metric", "slice", "against", "kind", "level")}
            found.append({**named, **figures, "status": status, "reason": _WORDS.get(status)})
        hidden = [
            (who[0], level) for level in self._cells.columns.get(who[0], ()) if (who[0], level) in self.kept.slices
        ]
        unnamed = self._comparator in _BY_SIZE and any(one in self.kept.slices for one in others)
        against = _UNNAMED if unnamed else str(row["against"])
        for one in dict.fromkeys([*hidden, *([] if told else [who])]):
            keys = {one[0]: one[1], **at}
            self._keep(row["metric"], keys, f"gap against {against}")
            named = {"metric": row["metric"], "slice": keys, "against": against, "kind": row["kind"]}
            found.append({**named, "level": 0.95, "status": "withheld", "reason": self._reason})
        return found


def in_order(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows by their names, so that no order tells of a size."""
    return sorted(rows, key=lambda row: canonical([row["metric"], row["slice"], row.get("against"), row["level"]]))


# ---- holdings --------------------------------------------------------------------------------------------------------


def published_holdings(
    held: Mapping[str, Any], cells: Cells, kept: Kept, *, k: int, reason: str, earlier: Sequence[Sent] = ()
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The holdings with small counts null, and the list of what was made null."""
    withheld = _Withheld(reason)
    everyone = EVERYONE in kept.slices
    found: dict[str, Any] = {}
    for measure in ("patients", "rows"):
        found[measure] = None if everyone else cells.sizes[measure].get(EVERYONE)
    if everyone:
        withheld.add({}, "patients and rows")
    waiting = held.get("waiting")
    found["waiting"] = waiting
    if waiting is not None and k > 1 and (waiting < k or _changed("waiting", waiting, earlier, k)):
        found["waiting"] = None
        withheld.add({}, "waiting rows")
    found["groups"] = {}
    for name, levels in (held.get("groups") or {}).items():
        if name in cells.unlisted:
            continue
        found["groups"][name] = {}
        for level, sizes in levels.items():
            hidden = (name, level) in kept.slices or (name, level) not in cells.sizes["rows"]
            found["groups"][name][level] = {size: None if hidden else sizes[size] for size in ("patients", "rows")}
            if hidden:
                withheld.add({name: level}, "patients and rows")
    found["inputs"] = [
        _input(row, cells, kept, k, everyone or _changed(f"input {row['input']}", row["missing"], earlier, k), withheld)
        for row in held.get("inputs") or ()
    ]
    found["label_delay_days"] = _delay(held, k, everyone, earlier, withheld)
    return found, withheld.rows


class _Withheld:
    """The list of what was withheld."""

    def __init__(self, reason: str) -> None:
        self.rows: list[dict[str, Any]] = []
        self._reason = reason

    def add(self, keys: Mapping[str, Any], what: str) -> None:
        self.rows.append({"metric": None, "slice": dict(keys), "what": what, "reason": self._reason})


def _changed(name: str, n: int | None, earlier: Sequence[Sent], k: int) -> bool:
    """Was it told before, and has it changed by fewer than k since?"""
    return n is not None and any(0 < abs(n - one.others[name]) < k for one in earlier if name in one.others)


def _input(row: Mapping[str, Any], cells: Cells, kept: Kept, k: int, hide: bool, withheld: _Withheld) -> dict[str, Any]:
    """How complete an input is. A column may be a group as well as an input, under its own name or as bands of it, and
    then its missing values are a level: where that level is withheld, its count must not appear here. A record says
    which levels they are; that of an earlier version does not, and then equal counts are taken for the same people."""
    missing, rows = row["missing"], row["rows"]
    if missing is None:  # the record itself withholds it
        hide, missing = True, 0
    own_group = any(who and who[0] == row["input"] for who in kept.slices)
    levels = [(name, level) for name, own in (row.get("missing_as") or {}).items() for level in own]
    hidden = any(who in kept.slices or who not in cells.sizes["rows"] for who in levels if who[0] not in cells.unlisted)
    hidden_sizes = {cells.sizes["rows"][who] for who in kept.slices if who in cells.sizes["rows"]}
    small = k > 1 and (missing < k or rows - missing < k)
    if hide or small or own_group or hidden or missing in hidden_sizes or rows - missing in hidden_sizes:
        withheld.add({"input": row["input"]}, "missing share")
        return {
            "input": row["input"],
            "missing": None,
            "rows": None if EVERYONE in kept.slices else rows,
            "share": None,
        }
    return {key: row[key] for key in ("input", "missing", "rows", "share")}


def _delay(
    held: Mapping[str, Any], k: int, everyone: bool, earlier: Sequence[Sent], withheld: _Withheld
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
        withheld.add({}, "label delay")
        return None
    return dict(delay)
