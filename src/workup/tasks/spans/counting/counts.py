"""All modes, levels and policies counted in one pass over blocks of documents: by label, and by document.

Keeps counts alone, so memory grows with documents and settings and not with spans. Ratios and intervals are made from
these counts elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workup.errors import InputError
from workup.tasks.spans.counting.blocks import Sheet
from workup.tasks.spans.counting.leaks import Leaks
from workup.tasks.spans.counting.matchup import Matchup, Setting
from workup.tasks.spans.counting.tally import FIELDS, Tally


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of every setting. `documents[setting, field, document]`, unknown documents last; `rows` by label.

    `strays` says how many predictions lay outside their text or were of unknown documents: false alarms, all of them.
    """

    settings: tuple[Setting, ...]
    documents: npt.NDArray[np.int32]
    rows: tuple[Mapping[str, tuple[int, ...]], ...]
    strays: Mapping[str, int]
    leaks: Mapping[str, Leaks]

    def total(self, setting: Setting) -> dict[str, int | None]:
        """All labels together."""
        return _row(setting, self.documents[self.settings.index(setting)].sum(axis=1, dtype=np.int64).tolist())

    def per_document(self, setting: Setting) -> dict[str, npt.NDArray[np.int32]]:
        """Each field with one entry per document, misses and false alarms too."""
        found = dict(zip(FIELDS, self.documents[self.settings.index(setting)], strict=True))
        found["misses"] = found["golds"] - found["hits"]
        found["false_alarms"] = found["predictions"] - found["credited"] - found["neutral"]
        return found

    def table(self) -> Iterator[dict[str, Any]]:
        """Rows for `tables.counts`: every setting, all labels (None) first and then each label that occurs."""
        for i, setting in enumerate(self.settings):
            key = {"mode": setting.mode.name, "level": setting.level, "policy": setting.policy}
            yield {**key, "label": None, **self.total(setting)}
            for label, numbers in self.rows[i].items():
                yield {**key, "label": label, **_row(setting, numbers)}


def count(matchup: Matchup, settings: Sequence[Setting], *, leaks: bool = False, sheet: Sheet | None = None) -> Counts:
    """Count every setting; with `leaks`, also what leaked under each of their policies.

    `sheet` is the matchup made ready, where somebody has done so already.

    >>> from workup.documents.document import SpanArrays
    >>> from workup.documents.policies import MUST
    >>> golds = SpanArrays.of([(0, 0, 10, "date")])
    >>> found = SpanArrays.of([(0, 0, 4, "date"), (0, 5, 10, "date")])
    >>> matchup = Matchup(golds, found, 1, {"all": np.array([MUST], dtype=np.int8)})
    >>> counts = count(matchup, matchup.settings(["iou:0.5"], levels=["leaf"]))
    >>> [row["hits"] for row in counts.table()], counts.total(counts.settings[0])["false_alarms"]
    ([1, 1], 1)
    """
    sheet = sheet or Sheet.of(matchup)
    with_text = needs_text(matchup, settings, leaks=leaks)
    asked = tuple(dict.fromkeys(settings))
    tally = Tally(sheet, asked, leaks=leaks)
    for block in sheet.blocks(with_text=with_text):
        tally.add(block)
    tally.flush()
    return Counts(asked, tally.documents(), tuple(map(tally.rows, asked)), tally.strays, tally.leaks())


def needs_text(matchup: Matchup, settings: Sequence[Setting], *, leaks: bool) -> bool:
    """Whether texts must be read; refuses settings that the matchup cannot answer."""
    wanting = [setting.mode.name for setting in settings if setting.mode.needs_text]
    if wanting and matchup.texts is None:
        raise InputError(
            f"the mode {wanting[0]} needs the texts",
            got="offsets alone",
            remedy="give the texts, or leave this mode out",
        )
    for setting in settings:
        matchup.level(setting.level)
        if setting.policy not in matchup.decisions:
            raise InputError("a setting's policy must have decisions", got=repr(setting.policy[:60]))
    return bool(wanting) or (leaks and matchup.texts is not None)


def _row(setting: Setting, numbers: Sequence[int]) -> dict[str, int | None]:
    """A row of the table. Units have no borders of their own to be equal, so their exact hits are undefined."""
    golds, hits, exact, predictions, credited, neutral = numbers
    return {
        "golds": golds,
        "hits": hits,
        "exact_hits": None if setting.mode.by_unit else exact,
        "misses": golds - hits,
        "predictions": predictions,
        "credited": credited,
        "neutral": neutral,
        "false_alarms": predictions - credited - neutral,
    }
