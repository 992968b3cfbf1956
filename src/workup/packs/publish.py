"""Figures as a pack holds them: told, or kept back in words that say nothing of how many there were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workup.disclosure.inference import Who
from workup.estimate import Estimate
from workup.packs.counts import EVERYONE, Cells, sides_of, who_and_at
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


class Teller:
    """Writes the figures of a site, each told or withheld, and lists what was withheld.

    A report lists groups by size and compares the smaller of two with the larger; the order of rows, or a row that is
    not there, would then bound a count that is withheld. So rows stand in the order of their names, and a gap that is
    withheld is listed for every withheld level.
    """

    def __init__(self, cells: Cells, kept: Kept, columns: Sequence[str], comparator: Any, reason: str) -> None:
        self.kept = kept
        self._cells, self._columns, self._comparator, self._reason = cells, columns, comparator, reason
        self._back: dict[str, dict[str, Any]] = {}

    @property
    def withheld(self) -> list[dict[str, Any]]:
        """Each figure that was kept back, once, at whatever levels of confidence it stands."""
        return [self._back[key] for key in sorted(self._back)]

    def estimates(self, found: Iterable[Estimate]) -> list[dict[str, Any]]:
        """Every estimate of a column whose levels may be named."""
        return _in_order(self._estimate(e) for e in found if self._listed(e.slice))

    def gaps(self, found: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Every gap, and one for each withheld level where the report has none."""
        rows: dict[str, dict[str, Any]] = {}
        for row in found:
            if self._listed(row["slice"]):
                for one in self._gap(row):
                    rows.setdefault(canonical([one[key] for key in ("metric", "slice", "against", "level")]), one)
        return _in_order(rows.values())

    def _listed(self, keys: Mapping[str, Any]) -> bool:
        who, _ = who_and_at(keys, self._columns)
        return not who or who[0] not in self._cells.unlisted

    def _tells(self, who: Who, metric: str, at: Mapping[str, Any]) -> bool:
        if who not in self._cells.sizes["rows"]:
            return False  # the record itself does not count them
        cut = self._cells.thresholds.index(at["threshold"]) + 1 if "threshold" in at else 0
        return self.kept.tells(who, sides_of(metric, at), cut)

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


def _in_order(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: canonical([row["metric"], row["slice"], row.get("against"), row["level"]]))
