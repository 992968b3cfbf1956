"""A fourth task, as a stranger would write it: systems that sort patients into levels of urgency."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from pydantic import Field

from workup.metric import Card, Metric, ratio
from workup.scores import Levels, Scores
from workup.study import Study
from workup.task import Case, Corpus, StudyDesign


class TriageStudy(Study):
    """A study of triage, which names the level from which on a patient is urgent."""

    urgent: int = Field(3, ge=1, le=5, description="Level from which on a patient is urgent")


class TriageTask:
    """Did the system see who is urgent?"""

    name, batch, shows_text, asks = "triage", 100, False, "triage"
    Settings = TriageStudy
    cards: Mapping[str, Card] = {
        "agreement": Card(
            title="agreement",
            describe="share of patients given the right level",
            scale="logit",
            unit="share",
            shown=("headline", "groups", "gaps", "cards", "forests", "latest"),
        ),
        "under_triage": Card(
            title="under-triage",
            describe="share of urgent patients who were taken for less",
            better="lower",
            scale="logit",
            unit="share",
            shown=("headline", "groups", "gaps", "cards"),
        ),
    }

    def read(self, study: Any, table: Any = None) -> Corpus:
        rows = zip(*(table[name] for name in ("patient", "site", "time", "sex", "level", "shown")), strict=True)
        cases = tuple(
            Case(str(i), shown, level, patient=str(patient), site=str(site), time=time, groups={"sex": str(sex)})
            for i, (patient, site, time, sex, level, shown) in enumerate(rows)
        )
        patients = len({case.patient for case in cases})
        return Corpus("triage cases", "1", self.name, cases, "0" * 64, n_patients=patients)

    def design(self, study: Any, corpus: Corpus | None) -> StudyDesign:
        cases = () if corpus is None else corpus.cases
        sites = {case.site for case in cases}
        return StudyDesign(
            groups={"sex": Levels.of([case.groups["sex"] for case in cases])}, sites=sites, placed=True, timed=True
        )

    def run(self, open_system: Any, corpus: Corpus, engine: Any, log: Any, watch: Any, *, budget: Any = None) -> Any:
        return open_system().triage([case.input for case in corpus.cases])

    def score(self, case: Case, output: Any) -> list[dict[str, float]]:
        return [{"level": float(case.expected), "given": float(output)}]

    def scores(self, corpus: Corpus, outputs: Any) -> Scores:
        cases = corpus.cases
        return Scores.of(
            {"level": [case.expected for case in cases], "given": outputs, "row": np.arange(1.0, len(cases) + 1)},
            patient=[case.patient for case in cases],
            site=[case.site for case in cases],
            time=np.array([case.time for case in cases], dtype="datetime64[us]"),
            groups={"sex": [case.groups["sex"] for case in cases]},
        )

    def metrics(self, scores: Scores, study: Any) -> list[Metric]:
        def urgent(s: Scores) -> Any:
            return (s["level"] >= study.urgent).astype(float)

        return [
            ratio(
                "agreement",
                lambda s: (s["given"] == s["level"]).astype(float),
                lambda s: np.ones(len(s)),
                card=self.cards["agreement"],
                parity=True,
            ),
            ratio(
                "under_triage",
                lambda s: urgent(s) * (s["given"] < s["level"]),
                urgent,
                card=self.cards["under_triage"],
                undefined="nobody is urgent",
            ),
        ]

    def followed(self, metrics: Any, study: Any) -> Any:
        return metrics

    def parts(self, scores: Scores, study: Any) -> Iterator[Any]:
        return iter(())

    def tables(self, scores: Scores, study: Any, *, show_text: bool = False) -> dict[str, Any]:
        return {}

    def notes(self, corpus: Corpus, outputs: Any, scores: Scores, study: Any) -> list[str]:
        return []

    def details(self, scores: Scores, study: Any, *, every: bool = False) -> Iterator[dict[str, Any]]:
        return iter(())


class OneTooLow:
    """A system that gives every third patient one level too few."""

    name, version = "one too low", "1"

    def triage(self, shown: list[int]) -> list[int]:
        return [level - (i % 3 == 0) for i, level in enumerate(shown)]
