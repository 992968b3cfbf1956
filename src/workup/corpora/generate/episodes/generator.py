"""Stays with planted truth: a table of repeated scores, a table of events, and what every alarm metric ought to find.

Knows nothing of scoring: the truth is worked out from the plan and not counted in the tables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from workup.corpora.checks import whole_number
from workup.corpora.generate.episodes.mixture import truth_of
from workup.corpora.generate.episodes.plan import EpisodesPlan, Fault
from workup.corpora.generate.episodes.planted_truth import Line
from workup.corpora.generate.episodes.stays import Scored, Stays
from workup.corpora.generate.episodes.tables import Table, csv_text, events, parquet_bytes, predictions
from workup.errors import InputError
from workup.files.disk import refuse_special, replace_whole

__all__ = ["EpisodesPlan", "Fault", "PlantedEpisodes", "generate"]

DEFAULT = EpisodesPlan()
_MOST = 10_000_000


@dataclass(frozen=True, eq=False)
class PlantedEpisodes:
    """Generated tables with their truth. The tables are plain columns; `truth` is plain data, keyed by metric names."""

    predictions: Table
    events: Table
    truth: Mapping[str, Any]
    plan: EpisodesPlan
    seed: int

    def write(self, path: Path) -> tuple[Path, Path, Path]:
        """Write the scores to `path`, as CSV or Parquet by its ending, and beside it `events` with the same ending and
        the truth as `<stem>.truth.json`; the same bytes every time."""
        path = Path(path)
        form = path.suffix.lower()
        if form not in (".csv", ".parquet") or path.stem == "events" or not path.parent.is_dir():
            raise InputError(
                "scores are written to a .csv or .parquet file in a folder that exists, and not named events",
                where=str(path),
                remedy="make the folder, and name the file such as scores.csv",
            )
        events, beside = path.with_name(f"events{path.suffix}"), path.with_name(f"{path.stem}.truth.json")
        for place in (path, events, beside):
            refuse_special(place)
        text = json.dumps(self.truth, indent=2, ensure_ascii=False, allow_nan=False)
        replace_whole(beside, [f"{text}\n"], mode=0o666)
        written = csv_text if form == ".csv" else parquet_bytes
        replace_whole(events, written(self.events), mode=0o666)
        replace_whole(path, written(self.predictions), mode=0o666)
        return path, events, beside


def generate(
    count: Annotated[int, Field(ge=1, le=_MOST, description="Patients")],
    *,
    seed: int,
    plan: EpisodesPlan | Mapping[str, Any] = DEFAULT,
) -> PlantedEpisodes:
    """Draw the stays of `count` patients under a plan, given as EpisodesPlan or as plain data; equal arguments give
    equal bytes.

    >>> made = generate(50, seed=1, plan={"horizon_hours": 12, "gap_hours": 4})
    >>> sorted(made.truth["overall"]["thresholds"])
    ['0.05', '0.1', '0.2']
    """
    whole_number("count", count, low=1, high=_MOST, where="episodes")
    whole_number("seed", seed, low=0, high=2**63 - 1, where="episodes")
    plan = EpisodesPlan.of(plan)
    line = Line.of(plan)
    stays = Stays.draw(int(count), plan, seed=int(seed))
    scores = Scored.draw(stays, plan, line, seed=int(seed))
    return PlantedEpisodes(
        predictions(stays, scores, plan, int(seed)),
        events(stays, plan, int(seed)),
        truth_of(int(count), int(seed), plan, line, stays),
        plan,
        int(seed),
    )
