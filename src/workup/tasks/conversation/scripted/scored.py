"""Transcripts put through the whole scorer, and its metrics asked for by name. For self-tests: no lens, no report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workup.estimate import Draws, Estimate, estimate
from workup.metric import Metric
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.scores.scoring import ConversationScores
from workup.tasks.conversation.settings import ConversationStudy
from workup.tasks.conversation.task import ConversationTask, GivenTranscripts

_LIVE = {"set": "critical", "arm": "live"}
_BARE = {
    "conflict_rate",
    "conflict_rate_published",
    "never_events",
    "never_event_rate",
    "availability",
    "use",
    "copy_rate",
}


class Scored:
    """What the scorer says of some transcripts."""

    def __init__(
        self,
        cases: Sequence[ConversationCase],
        lines: Sequence[Mapping[str, Any]],
        *,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.study = ConversationStudy.of(
            {"name": "self-test", "task": "conversation", "conversation": dict(settings or {})}
        )
        task = ConversationTask()
        corpus = task.read(self.study, list(cases))
        self.scores: ConversationScores = task.scores(corpus, GivenTranscripts(lines).of(corpus))
        found = task.metrics(self.scores, self.study)
        self.metrics: dict[tuple[str, frozenset[tuple[str, Any]]], Metric] = {
            (metric.name, frozenset(metric.at.items())): metric for metric in found
        }

    def metric(self, name: str, **at: Any) -> Metric:
        """A metric by its name and slice; live and critical where the slice says nothing else."""
        where = dict(at) if name in _BARE else {**_LIVE, **at}
        return self.metrics[name, frozenset(where.items())]

    def value(self, name: str, **at: Any) -> float:
        """Its point value, NaN where it is undefined."""
        return self.metric(name, **at).value(self.scores)

    def estimate(self, name: str, *, level: float = 0.95, **at: Any) -> Estimate:
        """The estimate as a report would hold it."""
        [found] = estimate(self.scores, [self.metric(name, **at)], draws=Draws(), levels=(level,))
        return found
