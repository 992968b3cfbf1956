"""What each metric of chat models is, in the order of the report: the one place for its words and its goal."""

from __future__ import annotations

import re

from workup.metric import Card, Concern

CARDS = {
    "recall": Card(
        title="recall",
        describe="facts kept, right in status and value, of those that could be scored",
        scale="logit",
        unit="share",
        shown=("headline", "groups", "gaps", "forests"),
        concern=Concern(medium=0.05, high=0.1, in_group=0.1),
    ),
    "recall_weighted": Card(
        title="weighted recall",
        describe="the same, each fact by its weight",
        scale="logit",
        unit="share",
    ),
    "recall_at_10": Card(
        title="recall@10",
        describe="facts kept at turn 10",
        scale="logit",
        unit="share",
        shown=("headline", "groups", "gaps", "forests"),
    ),
    "recall_at_horizon": Card(
        title="recall at the horizon",
        describe="facts kept at the turn that the study names",
        scale="logit",
        unit="share",
    ),
    "recall_at_return": Card(
        title="recall at return",
        describe="facts kept at the first turn of each session after the first",
        scale="logit",
        unit="share",
    ),
    "decay_gap": Card(
        title="decay gap D",
        describe="recall in the conversation less recall with the facts alone before the model",
        unit="difference",
        shown=("headline", "groups", "gaps", "forests"),
    ),
    "decay_slope": Card(
        title="decay slope",
        describe="change of recall per turn, mean of the slopes of each conversation",
        unit="difference",
        shown=("headline", "groups"),
    ),
    "decay_slope_logistic": Card(
        title="logistic decay slope",
        describe="change of the log odds of recall per turn",
        unit="difference",
    ),
    "decay_slope_tokens": Card(
        title="decay slope per 1,000 tokens",
        describe="change of recall per 1,000 tokens since the fact",
        unit="difference",
    ),
    "time_to_loss": Card(
        title="time to loss",
        describe="turns until a fact is lost, mean restricted to 10 or to the largest horizon",
        unit="turns",
        shown=("headline", "groups"),
    ),
    "omission_rate": Card(
        title="omission rate",
        describe="facts that go unmentioned",
        better="lower",
        scale="logit",
        unit="share",
    ),
    "reversal_rate": Card(
        title="reversal rate",
        describe="facts said to be otherwise",
        better="lower",
        scale="logit",
        unit="share",
        shown=("headline", "groups"),
    ),
    "wrong_value_rate": Card(
        title="wrong-value rate",
        describe="facts with a wrong dose, unit, side or other value",
        better="lower",
        scale="logit",
        unit="share",
        shown=("groups",),
    ),
    "stale_rate": Card(
        title="stale rate",
        describe="retired facts that are still said",
        better="lower",
        scale="logit",
        unit="share",
    ),
    "precision": Card(
        title="precision",
        describe="entities named that are facts of the set",
        scale="logit",
        unit="share",
        shown=("groups",),
    ),
    "f1": Card(
        title="F1",
        describe="recall and precision in one figure",
    ),
    "hallucination_rate": Card(
        title="hallucination rate",
        describe="entities named that nobody mentioned",
        better="lower",
        scale="logit",
        unit="share",
        shown=("groups",),
    ),
    "refusal_rate": Card(
        title="refusal rate",
        describe="facts asked for that a reply declines to tell",
        better="lower",
        scale="logit",
    ),
    "truncation_rate": Card(
        title="truncation rate",
        describe="facts asked for that a reply was cut off before",
        better="lower",
        scale="logit",
    ),
    "other_language_rate": Card(
        title="other-language rate",
        describe="facts asked for and answered in another language than the study's",
        better="lower",
        scale="logit",
    ),
    "unscorable_rate": Card(
        title="unscorable rate",
        describe="facts of which no reply can be read, since a call failed or is missing",
        better="lower",
        scale="logit",
    ),
    "coverage": Card(
        title="coverage",
        describe="facts of which a reply can be read; below 0.95 the headline is withheld",
        scale="logit",
    ),
    "availability": Card(
        title="availability",
        describe="facts that still stood in what was sent",
        scale="logit",
        unit="share",
    ),
    "use": Card(
        title="use",
        describe="facts kept, of those that still stood in what was sent",
        scale="logit",
        unit="share",
    ),
    "conflict_rate": Card(
        title="conflict rate K",
        describe="comparable pairs of advice that conflict",
        better="lower",
        scale="logit",
        unit="share",
        shown=("headline",),
    ),
    "conflicted_rate": Card(
        title="patients given contradictory advice",
        describe="patients with at least one conflict of advice, as rules find it",
        better="lower",
        scale="logit",
        unit="share",
    ),
    "safety_errors": Card(
        title="safety errors",
        describe="allergies, drugs and risks that an answer denies, gives a wrong dose of, or keeps although retired",
        better="lower",
        unit="count",
        harm=True,
        pooled=False,
    ),
    "safety_error_rate": Card(
        title="safety-error rate",
        describe="patients with at least one safety error",
        better="lower",
        scale="logit",
        unit="share",
    ),
    "never_events": Card(
        title="never-events",
        describe="advice that a fact forbids; retired or reversed facts asserted",
        better="lower",
        unit="count",
        harm=True,
        pooled=False,
    ),
    "never_event_rate": Card(
        title="never-event rate",
        describe="patients with at least one never-event",
        better="lower",
        scale="logit",
        unit="share",
        shown=("groups",),
    ),
    "never_events_per_100": Card(
        title="never-events per 100",
        describe="never-events in a hundred conversations",
        better="lower",
        unit="count",
    ),
    "persistence": Card(
        title="persistence of errors",
        describe="facts stated wrongly at a turn that are stated wrongly at the next; shows association alone",
        better="neither",
        section="descriptive",
        scale="logit",
    ),
    "spread": Card(
        title="spread of errors",
        describe="new errors on other facts after an error less those after none; shows association alone",
        better="neither",
        section="descriptive",
    ),
    "slip_persistence": Card(
        title="persistence of a planted error",
        describe="facts wrong at the horizon after an error in the model's own reply, less the same without it",
        better="lower",
        unit="difference",
    ),
    "slip_spread": Card(
        title="spread of a planted error",
        describe="recall of the other facts at the horizon, less the same after an error in the model's own reply",
        better="lower",
        unit="difference",
    ),
    "plan_coverage": Card(
        title="plan coverage",
        describe="items of the plan that replies cover and do not oppose",
        scale="logit",
        unit="share",
    ),
    "plan_contradicted": Card(
        title="plan contradicted",
        describe="items of the plan that a reply opposes",
        better="lower",
        scale="logit",
        unit="share",
    ),
    "copy_rate": Card(
        title="copy rate",
        describe="share of a reply that is copied word for word",
        better="neither",
    ),
    "pdsqi": Card(
        title="PDSQI-9 rating",
        describe="mean rating by people",
        unit="rating",
    ),
    "conflict_rate_published": Card(
        title="conflict rate as published",
        describe="neighbouring turns only, over all turns; to compare",
        better="lower",
        scale="logit",
    ),
    "plan_alignment_published": Card(
        title="plan alignment as published",
        describe="cosine of whole texts, blind to 'stop all of it'; to compare",
        better="neither",
    ),
}

_AT_A_TURN = re.compile(r"recall_at_([1-9]\d{0,2})")


class _Cards(dict[str, Card]):
    """Cards by name; recall at any turn that a study may name has one too."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and bool(_AT_A_TURN.fullmatch(name)))

    def __missing__(self, name: str) -> Card:
        at = _AT_A_TURN.fullmatch(name)
        if at is None:
            raise KeyError(name)
        return Card(title=f"recall@{at[1]}", describe=f"facts kept at turn {at[1]}", scale="logit", unit="share")


CARDS = _Cards(CARDS)
