"""Alerts: one per cause, opened by what fires, fed or quietened by what is known, closed, and opened again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.errors import InputError
from workup.lenses.drift.alerts import Alert, Alerts, Finding

CAUSES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("performance", "auroc", {}),
    ("performance", "auroc", {"sex": "F"}),
    ("fairness", "auroc", {"sex": "F"}),
    ("input", "age", {"input": "age"}),
)


def finding(window: str, fires: bool | None, effect: float = -0.06, *, cause: int = 0, **more: Any) -> Finding:
    kind, metric, slice_ = CAUSES[cause]
    severity = "high" if abs(effect) >= 0.10 else "medium"
    return Finding(kind, metric, slice_, window, fires, effect, severity, **{"message": f"{effect:+.2f}", **more})


def after(*steps: bool | None, quiet: int = 2) -> Alert | None:
    seen = Alerts(quiet)
    for i, fires in enumerate(steps):
        seen = seen.after([finding(f"w{i}", fires)])
    return seen.listed()[0] if seen.held else None


def test_nothing_opens_without_a_finding_that_fires() -> None:
    assert after(False, None, False) is None


def test_an_alert_that_fires_again_is_fed_and_not_doubled() -> None:
    alert = after(True, True, True)
    assert alert is not None
    assert (alert.state, alert.window, alert.last_window, alert.quiet, alert.relapses) == ("open", "w0", "w2", 0, 0)


def test_it_closes_after_so_many_quiet_windows_and_says_when() -> None:
    assert after(True, False, quiet=2).state == "open"
    alert = after(True, False, False, quiet=2)
    assert (alert.state, alert.resolved_window, alert.quiet) == ("resolved", "w2", 2)
    assert after(True, False, False, False, False, quiet=2).resolved_window == "w2"


def test_firing_starts_the_count_of_quiet_windows_anew() -> None:
    alert = after(True, False, True, False, quiet=2)
    assert (alert.state, alert.quiet) == ("open", 1)


def test_a_window_that_cannot_tell_neither_feeds_nor_quietens() -> None:
    alert = after(True, None, None, None, False, None, quiet=2)
    assert (alert.state, alert.quiet, alert.last_window) == ("open", 1, "w0")


def test_a_relapse_opens_the_same_alert_again_in_its_new_window() -> None:
    alert = after(True, False, False, None, True, quiet=2)
    assert (alert.state, alert.window, alert.resolved_window, alert.quiet, alert.relapses) == ("open", "w4", "", 0, 1)


def test_effect_severity_and_message_are_those_of_the_worst_window_since_it_opened() -> None:
    seen = Alerts(1)
    for window, effect in (("a", -0.06), ("b", -0.12), ("c", -0.07)):
        seen = seen.after([finding(window, True, effect)])
    [alert] = seen.listed()
    assert (alert.effect, alert.severity, alert.message, alert.worst_window) == (-0.12, "high", "-0.12", "b")
    assert (alert.last_effect, alert.last_window, alert.window) == (-0.07, "c", "a")
    seen = seen.after([finding("d", False)]).after([finding("e", True, -0.06)])
    [alert] = seen.listed()
    assert (alert.effect, alert.severity, alert.worst_window, alert.relapses) == (-0.06, "medium", "e", 1)


def test_one_that_was_acknowledged_stays_so_while_it_lasts_and_is_open_again_after_a_relapse() -> None:
    seen = Alerts(1).after([finding("a", True)])
    cause = finding("a", True).cause
    seen = seen.acknowledged(cause)
    assert seen.listed()[0].state == "acknowledged"
    assert seen.after([finding("b", True)]).listed()[0].state == "acknowledged"
    closed = seen.after([finding("b", False)])
    assert closed.listed()[0].state == "resolved"
    assert closed.acknowledged(cause).listed()[0].state == "resolved"
    assert closed.after([finding("c", True)]).listed()[0].state == "open"


def test_an_alert_that_was_never_raised_cannot_be_acknowledged() -> None:
    with pytest.raises(InputError, match="an alert that was raised"):
        Alerts().acknowledged("no such cause")


def test_the_same_metric_on_another_slice_or_of_another_type_is_another_cause() -> None:
    seen = Alerts().after([finding("a", True, cause=cause) for cause in range(len(CAUSES))])
    assert len(seen.listed()) == len(CAUSES)


def test_two_findings_of_one_cause_in_one_window_count_once() -> None:
    seen = Alerts(3).after([finding("a", True)])
    assert seen.after([finding("b", False), finding("b", False)]).listed()[0].quiet == 1
    mixed = seen.after([finding("b", False), finding("b", True, -0.2), finding("b", None)]).listed()[0]
    assert (mixed.quiet, mixed.effect) == (0, -0.2)


def test_open_ones_are_listed_first_and_severe_ones_before_the_others() -> None:
    seen = Alerts(1).after([finding("a", True, cause=0)])
    seen = seen.after(
        [finding("b", False, cause=0), finding("b", True, -0.06, cause=1), finding("b", True, -0.2, cause=3)]
    )
    assert [(a.metric, a.state) for a in seen.listed()] == [("age", "open"), ("auroc", "open"), ("auroc", "resolved")]


LEGAL = {
    (None, "open"),
    ("open", "open"),
    ("open", "acknowledged"),
    ("open", "resolved"),
    ("acknowledged", "acknowledged"),
    ("acknowledged", "resolved"),
    ("resolved", "resolved"),
    ("resolved", "open"),
}
steps = st.lists(
    st.lists(
        st.tuples(
            st.integers(0, len(CAUSES) - 1),
            st.sampled_from([True, False, None]),
            st.floats(-0.5, 0.5, allow_nan=False).filter(lambda x: x != 0),
            st.booleans(),
        ),
        max_size=6,
    ),
    max_size=12,
)


@given(steps=steps, quiet=st.integers(1, 4))
def test_whatever_comes_there_is_one_alert_per_cause_and_every_step_is_legal(steps: Any, quiet: int) -> None:
    seen = Alerts(quiet)
    silent: dict[str, int] = {}
    for i, step in enumerate(steps):
        before = dict(seen.held)
        found = [finding(f"w{i}", fires, effect, cause=cause) for cause, fires, effect, _ in step]
        seen = seen.after(found)
        for cause in {one.cause for one in found}:
            said = {one.fires for one in found if one.cause == cause}
            silent[cause] = 0 if True in said else silent.get(cause, 0) + (False in said)
            old, new = before.get(cause), seen.held.get(cause)
            assert (new is None) == (old is None and True not in said)
            if new is None:
                continue
            assert (old.state if old else None, new.state) in LEGAL
            assert (new.state == "resolved") == (silent[cause] >= quiet)
            if True in said:
                assert new.quiet == 0 and new.last_window == f"w{i}"
                assert new.relapses == ((old.relapses + (old.state == "resolved")) if old else 0)
            elif said == {None}:
                assert new == old
        for cause, alert in before.items():
            if cause not in {one.cause for one in found}:
                assert seen.held[cause] == alert
        for cause in {finding("", None, cause=c).cause for c, _, _, ack in step if ack}:
            if cause in seen.held:
                held = seen.held[cause].state
                seen = seen.acknowledged(cause)
                assert (held, seen.held[cause].state) in LEGAL
    listed = seen.listed()
    assert len({(a.type, a.metric, str(a.slice)) for a in listed}) == len(listed)
    assert all(a.severity == ("high" if abs(a.effect) >= 0.10 else "medium") for a in listed)
