"""Does the scorer of conversations find what was planted? Scripted models with known faults, put through all of it.

Expected numbers are worked out from what was planted, never from what the scorer answers. The cases are made here and
speak of nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workup import plugins
from workup.tasks.conversation.cases.case import ConversationCase, case_of
from workup.tasks.conversation.cases.written import load_cases
from workup.tasks.conversation.scripted import Behaviour, Plan, behaviour, transcripts
from workup.tasks.conversation.scripted.cases import small_cases
from workup.tasks.conversation.scripted.published_traps import TRAPS
from workup.tasks.conversation.scripted.scored import Scored
from workup.tasks.selftests import Check, run_parts

_EXACT = 1e-12
_CASES = 20
_BOTH = ("live", "oracle")
_SURE = 0.999  # level at which a noisy model's planted number must lie in its interval


def run(*, seed: int = 0) -> list[Check]:
    """Every check, in a fixed order. A scorer that raises fails the check and stops none of the others."""
    return run_parts({**_CHECKS, **TRAPS}, seed=seed)


# ---- asking and comparing --------------------------------------------------------------------------------------------


class _Seen:
    """One scripted model as the scorer sees it, and what was planted in it."""

    def __init__(self, planted: Behaviour, *, arms: Sequence[str] = ("live",), seed: int = 0) -> None:
        cases = small_cases(_CASES)
        self.plan = Plan(planted, cases, seed=seed)
        self.scored = Scored(cases, transcripts(planted, cases, arms, seed))

    def check(self, metric: str, expected: float | None, **at: Any) -> Check:
        seen = self.scored.value(metric, **at)
        right = bool(np.isnan(seen)) if expected is None else abs(seen - expected) <= _EXACT
        where = ", ".join(f"{key} {value}" for key, value in at.items())
        name = f"{metric} ({where})" if where else metric
        return Check(name, _said(expected), _said(None if np.isnan(seen) else seen), right)

    def rates(self, **expected: float) -> Iterator[Check]:
        """Shares over all turns, all of which must add up to 1."""
        for name, share in expected.items():
            yield self.check(name, share)
        four = ("recall", "omission_rate", "reversal_rate", "wrong_value_rate")
        total = sum(self.scored.value(name) for name in four)
        yield Check("four outcomes add up", "1", _said(total), abs(total - 1) <= _EXACT)

    def planted(self, outcome: str, *others: str) -> float:
        """A share of all that was planted in the live conversations."""
        tally = self.plan.counts()["live"]
        chosen = tally[outcome]
        return chosen / sum(tally[one] for one in (outcome, *others))


def _said(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.6g}"


def _is(name: str, expected: str, observed: str) -> Check:
    return Check(name, expected, observed, expected == observed)


_ACTIVE = ("correct", "omitted", "reversed", "wrong_value")


def _share(seen: _Seen, outcome: str) -> float:
    return seen.planted(outcome, *(one for one in _ACTIVE if one != outcome))


# ---- models without noise --------------------------------------------------------------------------------------------


def _perfect(seed: int) -> Iterator[Check]:
    seen = _Seen(behaviour("perfect"), arms=_BOTH)
    yield from seen.rates(recall=1.0, omission_rate=0.0, reversal_rate=0.0, wrong_value_rate=0.0, stale_rate=0.0)
    yield from (seen.check(name, 0.0) for name in ("decay_slope", "decay_gap", "unscorable_rate", "never_events"))
    yield from (seen.check(name, 1.0) for name in ("coverage", "recall_at_10"))
    yield seen.check("time_to_loss", 10.0)
    yield seen.check("time_to_loss", 10.0, loss="sustained")
    found = seen.scored.estimate("recall")
    yield Check("recall keeps an interval", "an end below 1", _said(found.low), bool(found.low and found.low < 1))
    gap = seen.scored.estimate("decay_gap")
    wide = gap.low is not None and gap.high is not None and gap.low < 0 < gap.high
    yield Check("decay_gap keeps an interval", "ends around 0", f"{gap.low} to {gap.high}", wide)


def _forgetful(seed: int) -> Iterator[Check]:
    planted = replace(behaviour("forgetful"), slope=-0.05, oracle=0.9)
    seen = _Seen(planted, arms=_BOTH)
    yield seen.check("decay_slope", -0.05)
    yield seen.check("decay_slope", 0.0, arm="oracle")
    for turn in (1, 2, 6, 10):
        kept = 1 - 0.05 * (turn - 1)
        yield seen.check("recall", kept, turn=turn)
        yield seen.check("recall", 0.9, turn=turn, arm="oracle")
        yield seen.check("decay_gap", kept - 0.9, turn=turn)
    yield seen.check("recall_at_10", 0.55)
    share = _share(seen, "correct")
    yield from seen.rates(recall=share, omission_rate=1 - share)
    yield seen.check("decay_gap", share - 0.9)


def _dropping(seed: int) -> Iterator[Check]:
    """All facts are lost at the sixth tick; those that end before are censored and pull nothing."""
    seen = _Seen(behaviour("dropping"), arms=_BOTH)
    yield seen.check("time_to_loss", 6.0)
    yield seen.check("time_to_loss", 6.0, loss="sustained")
    yield seen.check("time_to_loss", 10.0, arm="oracle")


def _wavering(seed: int) -> Iterator[Check]:
    seen = _Seen(behaviour("wavering"))
    yield seen.check("time_to_loss", 3.0)
    yield seen.check("time_to_loss", 7.0, loss="sustained")


def _reversing(seed: int) -> Iterator[Check]:
    seen = _Seen(replace(behaviour("reversing"), reversal=0.2))
    yield from seen.rates(recall=0.8, reversal_rate=0.2, omission_rate=0.0, wrong_value_rate=0.0)
    reversed_facts = seen.plan.counts()["live"]["reversed"]
    yield seen.check("never_events", float(reversed_facts))


def _dose_confusing(seed: int) -> Iterator[Check]:
    seen = _Seen(replace(behaviour("dose_confusing"), wrong_value=0.5))
    share = _share(seen, "wrong_value")
    yield from seen.rates(recall=1 - share, wrong_value_rate=share, reversal_rate=0.0, omission_rate=0.0)


def _stale(seed: int) -> Iterator[Check]:
    seen = _Seen(behaviour("stale"))
    yield seen.check("stale_rate", seen.planted("stale", "retired_ok"))
    yield seen.check("recall", 1.0)
    yield seen.check("never_events", float(seen.plan.counts()["live"]["stale"]))


def _flip_flopping(seed: int) -> Iterator[Check]:
    seen = _Seen(replace(behaviour("flip_flopping"), conflicts=2, agreements=3))
    yield seen.check("conflict_rate", 0.4, judge="rules")
    values = seen.scored.scores.values
    yield Check("pairs", "100", _said(float(values["live|comparable"].sum())), values["live|comparable"].sum() == 100)
    yield Check(
        "conflicts", "40", _said(float(values["live|conflicting"].sum())), values["live|conflicting"].sum() == 40
    )
    yield seen.check("recall", 1.0)


def _harmful(seed: int) -> Iterator[Check]:
    seen = _Seen(replace(behaviour("harmful"), never_events=2))
    yield seen.check("never_events", 2.0 * _CASES)
    yield seen.check("never_event_rate", 1.0)
    yield seen.check("recall", 1.0)


def _verbose(seed: int) -> Iterator[Check]:
    seen = _Seen(behaviour("verbose"))
    yield from seen.rates(recall=1.0)


def _failing(seed: int) -> Iterator[Check]:
    seen = _Seen(replace(behaviour("failing"), failures=0.1), arms=_BOTH)
    missing = seen.planted("unscorable", *_ACTIVE)
    yield seen.check("coverage", 1 - missing)
    yield seen.check("unscorable_rate", missing)
    for name in ("recall", "recall_at_10", "decay_slope", "decay_gap", "time_to_loss"):
        yield _is(f"{name} at a coverage below 0.95", "withheld", seen.scored.estimate(name).status)
    few = _Seen(replace(behaviour("failing"), failures=0.03))
    for check in (few.check("coverage", 1 - few.planted("unscorable", *_ACTIVE)), few.check("recall", 1.0)):
        yield replace(check, name=f"{check.name}, few failures")
    yield _is("recall at a coverage above 0.95", "ok", few.scored.estimate("recall").status)


# ---- cases of another make -------------------------------------------------------------------------------------------


def _generated(seed: int) -> Iterator[Check]:
    """Every fault at once, in generated cases where there is a generator, else in some that were written."""
    planted = Behaviour("mixed", recall=0.7, reversal=0.1, wrong_value=0.3, stale=0.5)
    cases = _other_cases(seed)
    tally = Plan(planted, cases).counts()["live"]
    seen = Scored(cases, transcripts(planted, cases, ("live",)))
    critical = all(fact.critical for case in cases for fact in case.facts)
    kind = "critical" if critical else "extended"
    active = sum(tally[one] for one in _ACTIVE)
    shares = {
        "recall": tally["correct"] / active,
        "omission_rate": tally["omitted"] / active,
        "reversal_rate": tally["reversed"] / active,
        "wrong_value_rate": tally["wrong_value"] / active,
        "stale_rate": tally["stale"] / (tally["stale"] + tally["retired_ok"]),
    }
    for name, share in shares.items():
        found = seen.value(name, set=kind)
        yield Check(name, _said(share), _said(found), abs(found - share) <= _EXACT)


def _other_cases(seed: int) -> list[ConversationCase]:
    if "conversation" not in plugins.registered("generators"):
        return [replace(case, patient_summary="") for case in load_cases()[::8]]
    made = plugins.make("generators", "conversation", {"count": 6}, where="self-test", context={"seed": seed})
    cases = [case_of(record, where="self-test") for record in made.cases()]
    # Without a summary nothing is extracted from it, so that the sets hold what was planted and no more.
    return [replace(case, patient_summary="") for case in cases]


# ---- a model with noise ----------------------------------------------------------------------------------------------


def _noisy(seed: int) -> Iterator[Check]:
    planted = Behaviour("noisy", recall=0.9, slope=-0.04, oracle=0.9, reversal=0.05, noise=True)
    seen = _Seen(planted, arms=_BOTH, seed=seed)
    # A fact is turned round before it can be forgotten, so that what is kept stays what was planted.
    truth = {
        "decay_slope": -0.04,
        "recall": 0.9 - 0.04 * _mean_turn(),
        "recall_at_10": 0.54,
        "decay_gap": -0.04 * _mean_turn(),
    }
    for name, value in truth.items():
        found = seen.scored.estimate(name, level=_SURE)
        inside = found.low is not None and found.high is not None and found.low <= value <= found.high
        yield Check(f"{name} in its interval", _said(value), f"{found.low:.4g} to {found.high:.4g}", inside)


def _mean_turn() -> float:
    """Turns that have passed, on average over active facts."""
    case = small_cases(1)[0]
    active = [len(case.active(turn)) for turn in range(1, case.last_turn + 1)]
    return sum(turn * facts for turn, facts in enumerate(active)) / sum(active)


_CHECKS: dict[str, Callable[[int], Iterator[Check]]] = {
    "perfect": _perfect,
    "forgetful": _forgetful,
    "forgetting at the sixth tick": _dropping,
    "losing, finding and losing again": _wavering,
    "reversing": _reversing,
    "dose-confusing": _dose_confusing,
    "stale": _stale,
    "flip-flopping": _flip_flopping,
    "harmful": _harmful,
    "verbose": _verbose,
    "failing": _failing,
    "every fault at once": _generated,
    "forgetful with noise": _noisy,
}
