"""The labelled replies: how many, of which parts, and that what was measured is what is told."""

from __future__ import annotations

from workup.tasks.conversation.read.advice.probes import PARTS, advice_probes, found_in, measured_error

# Labels on which the reader is known to differ. A name that leaves this list is a gain; one that joins it, a loss.
MISSED = {"second-1", "second-15"}


def test_there_are_enough_of_every_part() -> None:
    probes = advice_probes()
    counts = {part: sum(probe.part == part for probe in probes) for part in PARTS}
    assert len(probes) >= 250
    assert sum(bool(probe.tag) for probe in probes) >= 80
    assert counts["held_out"] * 3 >= counts["tuned"]
    assert len({probe.name for probe in probes}) == len(probes)
    assert len({(probe.tag, probe.reply) for probe in probes}) == len(probes)


def test_what_is_read_is_what_is_labelled() -> None:
    wrong = {one.name for one in advice_probes() if one.kind != "batch" and found_in(one) != one.expected}
    assert wrong == MISSED


def test_the_error_that_is_told_is_that_of_first_sight() -> None:
    error = measured_error()
    first = error.first_seen
    assert [(rate.right, rate.n) for rate in first] == [(146, 178), (111, 141), (111, 123)]
    assert [(rate.right, rate.n) for rate in error.first_seen_never_events] == [(317, 381), (153, 214), (164, 167)]
    assert (error.first_seen_pairs.right, error.first_seen_pairs.n) == (285, 320)
    assert error.pairs.right > error.first_seen_pairs.right
    assert first.agreement.low is not None
    assert first.agreement.value is not None
    assert first.agreement.low < first.agreement.value < (error.advice.agreement.value or 0)
    assert error.advice.agreement.n == sum(part.agreement.n for part in error.parts.values())
