"""What a reader of a report on episodes must know before the first number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workup.scores import Scores
from workup.tasks.risk.episodes.evaluation import Evaluated
from workup.tasks.risk.episodes.metrics import CASE
from workup.tasks.risk.episodes.settings import STAY
from workup.tasks.risk.episodes.study import EpisodesStudy

FEEDBACK = (
    "Clinicians saw these alerts or may have: an alert that was acted on may have prevented the event, and is then "
    "counted as false. Neither the figures of all rows nor those of rows that nobody acted on are the untreated truth."
)
_LEAD, _EVENTS = "lead_time_median", "event_sensitivity"


def notes(evaluated: Evaluated, scores: Scores, study: EpisodesStudy, *, reduced: bool) -> Iterator[str]:
    """Every one of them, the widest first."""
    yield FEEDBACK
    yield from evaluated.notes
    yield from _waiting(scores, study)
    yield from _never_scored(evaluated, study)
    if reduced:
        yield (
            f"Each {study.episodes.unit} has one risk here, the {study.episodes.score} of many: who is watched longer "
            "scores higher, and an event cuts the scores short. Read its AUROC beside that of the first score; "
            "landmarks (unit: landmark) are the fair form. It is no risk at one horizon, so calibration is not shown."
        )
    if evaluated.changing_groups:
        yield (
            f"Within stays the level of {', '.join(evaluated.changing_groups)} changes. Alarms and time watched belong "
            "to the level at the prediction, an event to that of the last prediction before it, and a stay to that of "
            "its first."
        )
    if study.episodes.discharge == "censored":
        yield (
            "Who left alive is not known about from then on, and rows of which the outcome is not known are left out: "
            "what is left has too many events. Follow-up and status of every row are kept, for a study with a horizon "
            "that allows for those who left."
        )
    if not study.alarms():
        yield "No threshold was named, so nothing is said of alarms."
    yield from _about_gates(study)


def _waiting(scores: Scores, study: EpisodesStudy) -> Iterator[str]:
    later = scores.waiting
    if later is None:
        return
    people = np.unique(later.patient).size
    if people < study.smallest_cell:
        yield f"The outcome of fewer than {study.smallest_cell} patients' rows is not known yet; they are in no metric."
        return
    known = int(scores[CASE].sum())
    yield (
        f"The outcome of {len(later):,} of {len(later) + known:,} rows is not known yet (stays that are open, or were "
        "lost); they are in no metric of risks and outcomes."
    )
    if study.episodes.horizon == STAY and "drift" in study.lenses:
        yield (
            "The horizon is the stay. Windows from the first open stay on are not judged, since the stays that close "
            "first are the short ones; stays that were lost never close, and are left out."
        )


def _never_scored(evaluated: Evaluated, study: EpisodesStudy) -> Iterator[str]:
    """Events of stays that have no prediction at all count as missed; a reader should know that they are there."""
    count = evaluated.of_stays["with_event_without_prediction"]
    if count >= max(study.smallest_cell, 1):
        yield f"{count:,} stays with an event have no prediction at all; their events count as missed."


def _about_gates(study: EpisodesStudy) -> Iterator[str]:
    named = {rule.partition(".")[0].partition("{")[0].strip() for rule in study.gates}
    if _LEAD in named and _EVENTS not in named and "flagged_before" not in named:
        yield (
            f"A gate names {_LEAD} alone. It speaks of flagged events only and rises when those flagged late are lost, "
            f"so a system can pass it by flagging fewer. To fix: set a gate on {_EVENTS} or flagged_before too."
        )
