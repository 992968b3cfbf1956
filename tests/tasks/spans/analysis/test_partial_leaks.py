"""What stays visible of a value that is masked in part, by hand for every kind, and how grave it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workup.documents.labels import NAMES
from workup.documents.visible import Borders, telling_ranges, touches, visible_ranges
from workup.tasks.spans.errors.partial_leaks import SEVERITIES, partial_leak


def left(marked: str, label: str | None) -> tuple[tuple[str, ...], str] | None:
    """Parts and severity of a value written with its masked characters in [brackets]."""
    text = ""
    masks = []
    for number, piece in enumerate(marked.replace("]", "[").split("[")):
        if number % 2:
            masks.append((4 + len(text), 4 + len(text) + len(piece)))
        text += piece
    found = partial_leak(f"xxx {text} yyy", 4, 4 + len(text), label=label, masks=masks)
    return None if found is None else (found.parts, found.severity)


@pytest.mark.parametrize(
    ("marked", "label", "expected"),
    [
        ("[Ann] Lee", "name_patient", (("surname",), "high")),
        ("Ann [Lee]", "name_patient", (("given_name",), "medium")),
        ("[Lee], Ann", "name_patient", (("given_name",), "medium")),
        ("Lee, [Ann B.]", "name_patient", (("surname",), "high")),
        ("[Ann] B. [Lee]", "name_patient", (("initial",), "low")),
        ("[Ann Lee] Jr.", "name_patient", (("suffix",), "low")),
        ("[Lee] Jr.", "name_patient", (("suffix",), "low")),
        ("[Vincent] van Gogh", "name_patient", (("surname",), "high")),
        ("Dr. [Lee]", "name_provider", (("title",), "low")),
        ("Ann [Marie] Lee", "name_patient", (("surname", "given_name"), "high")),
        ("Ann Le[e]", "name_patient", (("given_name", "name_fragment"), "medium")),
        ("[H]endrickson", "name_patient", (("name_fragment",), "medium")),
        ("[Hendricks]on", "name_patient", (("name_fragment",), "low")),
        ("O'[Neil]", "name_patient", (("name_fragment",), "low")),
        ("jd[oe88]", "username", (("handle_fragment",), "low")),
        ("[123-45-]6789", "ssn", (("last_four_digits",), "high")),
        ("123-[45-6789]", "ssn", (("digits",), "low")),
        ("123-45[-6789]", "ssn", (("most_digits",), "high")),
        ("[123-]45-6789", "ssn", (("last_four_digits", "most_digits"), "high")),
        ("MRN0[0417]", "mrn", (("digits",), "medium")),
        ("[415-555-]0123", "phone", (("last_four_digits",), "medium")),
        ("(415) [555-0123]", "phone", (("area_code",), "low")),
        ("[415-555-0123] ext. 44", "phone", (("extension",), "low")),
        ("[192.168.10.]25", "ip", (("digits",), "low")),
        ("03/14[/2020]", "date", (("day_and_month",), "high")),
        ("[03/14/]2020", "date_birth", (("year",), "low")),
        ("March 14[, 2020]", "date", (("day_and_month",), "high")),
        ("March [14, ]2020", "date", (("month_and_year",), "medium")),
        ("[March] 14th[, 2020]", "date", (("day",), "low")),
        ("[2020-]03-14", "date", (("day_and_month",), "high")),
        ("14/03[/2020]", "date", (("day_and_month",), "high")),
        ("2020[0314]", "date", (("year",), "low")),
        ("Saturday[, March 14]", "date", (("weekday",), "low")),
        ("Mar[ch] [14]", "date", (("date_fragment",), "low")),
        ("next [Tuesday]", "date_relative", (("date_word",), "medium")),
        ("10:[30]", "time", (("time_of_day",), "low")),
        ("9[4]", "age_over_89", (("age_digits",), "medium")),
        ("941[10]", "zip", (("zip_first_three",), "low")),
        ("[941]10", "zip", (("zip_digits",), "medium")),
        ("[12] Oak Street", "street_address", (("street",), "medium")),
        ("12 [Oak Street]", "street_address", (("house_number",), "low")),
        ("12 Oak [Street]", "street_address", (("street", "house_number"), "high")),
        ("[12 Oak Street], Apt 4", "street_address", (("unit",), "low")),
        ("[12 Oak] Street", "street_address", (("street_word",), "low")),
        ("[12 Oak Street], PO Box 99", "street_address", (("box_number",), "medium")),
        ("[jane.roe]@example.org", "email", (("domain",), "medium")),
        ("jane.roe@[example.org]", "email", (("local_part",), "high")),
        ("jane[.roe@example].org", "email", (("local_part_fragment", "domain_fragment"), "low")),
        ("https://example.org/[jane]", "url", (("domain",), "medium")),
        ("https://[example.org]/jane", "url", (("path",), "medium")),
        ("https[://example.org]", "url", (("scheme",), "low")),
        ("[Springfield] General Hospital", "facility", (("generic_word",), "low")),
        ("Springfield [General Hospital]", "facility", (("word",), "medium")),
        ("San [Francisco]", "city", (("generic_word",), "low")),
        ("[San] Francisco", "city", (("word",), "medium")),
        ("software [engineer]", "profession", (("word",), "low")),
        ("[some] thing", None, (("word",), "medium")),
        ("[12]$", "quantity", (("fragment",), "low")),
        # Whole masks, and none at all.
        ("[Ann] [Lee]", "name_patient", None),
        ("[Lee], [Ann]", "name_patient", None),
        ("Ann Lee", "name_patient", None),
    ],
)
def test_parts_by_hand(marked: str, label: str | None, expected: tuple[tuple[str, ...], str] | None) -> None:
    assert left(marked, label) == expected


def test_letters_and_digits_are_counted() -> None:
    found = partial_leak("123-45-6789", 0, 11, label="ssn", masks=[(0, 4), (2, 7)])
    assert found is not None and (found.visible, found.total) == (4, 9)


ranges = st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 45)), max_size=5)


@given(st.text(min_size=1, max_size=40), st.sampled_from([None, *NAMES]), ranges, st.data())
def test_an_answer_exactly_where_a_mask_touches_without_covering(
    text: str, label: str | None, masks: list[tuple[int, int]], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    found = partial_leak(text, start, end, label=label, masks=masks)
    wanted = touches(start, end, masks) and bool(telling_ranges(text, start, end, masks))
    assert (found is not None) == wanted
    if found is not None:
        assert found.parts and found.severity in SEVERITIES and 0 <= found.visible <= found.total


@given(ranges, st.integers(0, 20), st.integers(1, 20))
def test_visible_ranges_are_what_no_mask_covers(masks: list[tuple[int, int]], start: int, length: int) -> None:
    end = start + length
    found = visible_ranges(start, end, masks)
    covered = {place for a, b in masks for place in range(a, b)}
    assert [p for a, b in found for p in range(a, b)] == [p for p in range(start, end) if p not in covered]
    assert all(a < b for a, b in found)
    assert touches(start, end, masks) == any(place in covered for place in range(start, end))


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=6), st.integers(0, 30), st.integers(1, 9))
def test_borders_by_bisection(spans: list[tuple[int, int]], start: int, length: int) -> None:
    stretches = [(a, a + size) for a, size in spans]
    assert Borders(stretches).touch(start, start + length) == touches(start, start + length, stretches)
    apart = visible_ranges(0, 50, visible_ranges(0, 50, stretches))  # their union, no two of which overlap
    near = [(a, b) for a, b in apart if a < start + length and b > start]
    assert Borders(apart).touching(start, start + length) == near
