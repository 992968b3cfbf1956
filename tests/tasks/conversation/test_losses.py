"""When facts are lost: first, for good, censored; and the curve of Kaplan and Meier with its restricted mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.tasks.conversation.metrics.decay import restricted_mean, survival
from workup.tasks.conversation.scores.losses import Loss, loss_of

KEPT, GONE, TURNED, UNREAD = "correct", "omitted", "reversed", "unscorable"


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([KEPT, KEPT, KEPT], Loss(3, None, None)),
        ([KEPT, GONE, KEPT], Loss(3, 2, None)),
        ([KEPT, GONE, KEPT, TURNED, "wrong_value"], Loss(5, 2, 4)),
        ([GONE], Loss(1, 1, 1)),
        ([UNREAD, KEPT, UNREAD], Loss(2, None, None)),  # followed to the last turn that can be read
        ([KEPT, UNREAD, GONE], Loss(3, 3, 3)),
        ([GONE, UNREAD, UNREAD], Loss(1, 1, 1)),
        ([UNREAD, None], None),
        ([], None),
    ],
)
def test_losses_by_hand(outcomes: list[str | None], expected: Loss | None) -> None:
    assert loss_of(outcomes) == expected


@given(st.lists(st.sampled_from([KEPT, GONE, TURNED, "wrong_value", UNREAD]), max_size=14))
def test_losses_against_their_definition(outcomes: list[str]) -> None:
    found = loss_of(outcomes)
    known = [tick for tick, one in enumerate(outcomes, start=1) if one != UNREAD]
    if not known:
        assert found is None
        return
    assert found is not None
    lost = {tick for tick in known if outcomes[tick - 1] != KEPT}
    assert found.followed == max(known)
    assert found.first == min(lost, default=None)
    # For good: lost then, and at every later turn that can be read.
    forever = [tick for tick in sorted(lost) if all(later in lost for later in known if later >= tick)]
    assert found.sustained == (forever[0] if forever else None)
    if found.sustained is not None:
        assert found.first is not None and found.first <= found.sustained <= found.followed


# ---- the curve -------------------------------------------------------------------------------------------------------


def sums_of(facts: list[tuple[int, bool]], ticks: int = 10) -> np.ndarray:
    """Lost and at risk at each tick, of facts that are followed to a tick and lost there or not."""
    lost = [sum(gone and last == tick for last, gone in facts) for tick in range(1, ticks + 1)]
    risk = [sum(last >= tick for last, _ in facts) for tick in range(1, ticks + 1)]
    return np.array([*lost, *risk], dtype=float)


def test_a_curve_by_hand() -> None:
    # Of four facts one is lost at tick 2, one is followed to tick 3, one is lost at tick 5, one is kept for ten.
    sums = sums_of([(2, True), (3, False), (5, True), (10, False)])
    expected = [1, 0.75, 0.75, 0.75, 0.375, 0.375, 0.375, 0.375, 0.375, 0.375]
    assert survival(sums) == pytest.approx(expected)
    assert restricted_mean(sums) == pytest.approx(1 + sum(expected[:-1]))


@given(st.lists(st.integers(1, 11), min_size=1, max_size=30))
def test_without_censoring_the_restricted_mean_is_the_mean(ticks: list[int]) -> None:
    facts = [(min(tick, 10), tick <= 10) for tick in ticks]
    assert restricted_mean(sums_of(facts)) == pytest.approx(np.mean([min(tick, 10) for tick in ticks]))


def test_nobody_followed_is_undefined_unless_all_are_lost_before() -> None:
    assert np.isnan(restricted_mean(sums_of([(4, True), (6, False)])))
    assert restricted_mean(sums_of([(4, False), (6, True)])) == 6  # the curve is down before anyone is out of sight
    assert restricted_mean(sums_of([(4, True), (6, True)])) == pytest.approx(5)
    assert np.isnan(restricted_mean(sums_of([])))
    assert restricted_mean(sums_of([(9, False)])) == 10  # the tenth tick decides nothing up to ten


@given(st.data())
def test_a_stack_of_sums_is_each_of_them(data: Any) -> None:
    facts = st.lists(st.tuples(st.integers(1, 10), st.booleans()), max_size=8)
    several = [sums_of(data.draw(facts)) for _ in range(3)]
    together = restricted_mean(np.array(several))
    assert together == pytest.approx([float(restricted_mean(one)) for one in several], nan_ok=True)
