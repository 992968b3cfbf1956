"""Names of modes: what is read, what is refused and at which levels each is counted."""

from __future__ import annotations

from fractions import Fraction

import pytest

from workup.errors import InputError
from workup.tasks.spans.counting.modes import DEFAULT_MODES, levels_counted, parse_mode, parse_modes


@pytest.mark.parametrize(
    ("text", "name", "share"),
    [
        ("iou:0.5", "iou:0.5", Fraction(1, 2)),
        ("iou:.50", "iou:0.5", Fraction(1, 2)),
        ("cover:1.0", "cover:1", Fraction(1)),
        ("cover:1.", "cover:1", Fraction(1)),
        ("iou:0.3", "iou:0.3", Fraction(3, 10)),
        (" strict ", "strict", None),
        ("published:gold50", "published:gold50", Fraction(1, 2)),
    ],
)
def test_names_are_read_and_written_one_way(text: str, name: str, share: Fraction | None) -> None:
    mode = parse_mode(text)
    assert (mode.name, mode.share) == (name, share)
    assert parse_mode(mode.name) == mode


@pytest.mark.parametrize(
    "text",
    ["iou", "iou:", "iou:0", "iou:1.5", "iou:-0.5", "iou:half", "iou:1e-1", "iou:0.1234567891", "cover:٠.٥", "iou:."],
)
def test_shares_out_of_range_or_form_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match=r"share above 0 and at most 1.*write (iou|cover):0\.5"):
        parse_mode(text)


@pytest.mark.parametrize(("text", "nearest"), [("strikt", "strict"), ("fullmask", "full_mask"), ("Exact", "exact")])
def test_an_unknown_mode_names_the_near_one(text: str, nearest: str) -> None:
    with pytest.raises(InputError, match=f"did you mean '{nearest}'"):
        parse_mode(text)


def test_label_blind_modes_are_counted_at_phi_alone() -> None:
    levels = ("leaf", "branch", "phi")
    counted = {mode.name: levels_counted(mode, levels) for mode in parse_modes(DEFAULT_MODES)}
    assert counted == {"strict": levels, "iou:0.5": levels, "cover:1": levels, "full_mask": ("phi",), "char": ("phi",)}
    assert levels_counted(parse_mode("full_mask"), ("leaf",)) == ("phi",)


def test_a_mode_asked_for_twice_is_counted_once() -> None:
    assert [mode.name for mode in parse_modes(["iou:0.5", "strict", "iou:.5"])] == ["iou:0.5", "strict"]


def test_what_each_kind_is() -> None:
    kinds = {
        name: parse_mode(name) for name in ("strict", "cover:0.8", "full_mask", "char", "token", "published:gold50")
    }
    assert [name for name, mode in kinds.items() if mode.one_to_one] == ["strict", "published:gold50"]
    assert [name for name, mode in kinds.items() if mode.two_sided] == ["cover:0.8", "full_mask"]
    assert [name for name, mode in kinds.items() if mode.by_unit] == ["char", "token"]
    assert [name for name, mode in kinds.items() if mode.needs_text] == ["full_mask", "token"]
    assert [name for name, mode in kinds.items() if mode.published] == ["published:gold50"]
