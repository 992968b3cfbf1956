"""Ratings of documentation quality: the file, the means, and who agrees with whom."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workup.errors import InputError
from workup.stats.agreement import icc_agreement
from workup.stats.intervals import t_critical, wilson
from workup.tasks.conversation.read.content import (
    ATTRIBUTES,
    Rating,
    Ratings,
    quality_tables,
    rating_columns,
    read_ratings,
)

HEADER = "case,turn,rater,kind,attribute,rating\n"
SECRET = "Zebulon Quigley"


def read(tmp_path: Path, text: str | bytes) -> Ratings:
    file = tmp_path / "ratings.csv"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_ratings(file)


def test_a_file_is_read(tmp_path: Path) -> None:
    text = "\ufeff" + HEADER + "b,2,r1,Human,Organized,4.0\na,,r1,human,stigmatizing,Yes\n\na,1,j,judge,cited,NA\n"
    found = read(tmp_path, text)
    assert found.rows == (
        Rating("a", None, 0, "r1", "human", "stigmatising", 1.0),
        Rating("b", 2, 0, "r1", "human", "organised", 4.0),
    )
    assert found.blank == 1


def test_columns_of_the_users_own_are_passed_over(tmp_path: Path) -> None:
    text = "case,rater,kind,attribute,rating,comment,replicate\na,r1,human,useful,3,fine,2\n"
    assert read(tmp_path, text).rows == (Rating("a", None, 2, "r1", "human", "useful", 3.0),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "header"),
        ("case,rater,attribute,rating\na,r,cited,3\n", "a judge must not pass for a person"),
        ("case,rater,kind,attribute,ratings\na,r,human,cited,3\n", "'rating'"),
        (HEADER + f"{SECRET},1,r,human,cited,6\n", "row 2, column 'rating'"),
        (HEADER + f"a,1,r,human,cited,{SECRET}\n", "from 1 to 5"),
        (HEADER + "a,1,r,human,cited,0\n", "from 1 to 5"),
        (HEADER + "a,1,r,human,cited,3.5\n", "from 1 to 5"),
        (HEADER + "a,1,r,human,cited,nan\n", "from 1 to 5"),
        (HEADER + "a,1,r,human,cited,٣\n", "from 1 to 5"),
        (HEADER + "a,1,r,human,stigmatising,3\n", "yes or no"),
        (HEADER + f"a,1,r,{SECRET},cited,3\n", "human, judge"),
        (HEADER + f"a,1,r,human,{SECRET},3\n", "must be one of cited"),
        (HEADER + "a,1,r,human,acurate,3\n", "did you mean 'accurate'"),
        (HEADER + f"a,{SECRET},r,human,cited,3\n", "'turn' must be a whole number"),
        (HEADER + "a,0,r,human,cited,3\n", "'turn' must be a whole number"),
        (HEADER + " ,1,r,human,cited,3\n", "'case' must not be empty"),
        (HEADER + f"a,1,{SECRET},human,cited,3\na,1,{SECRET},human,cited,4\n", "row 3.*row 2"),
        (HEADER + f"a,1,{SECRET},human,cited,3\nb,1,{SECRET},judge,cited,4\n", "human or a judge throughout"),
        (HEADER + f"a,1,r,human,cited,3,{SECRET}\n", "7 cells"),
        (HEADER + "a,1,r\n", "3 cells"),
        (HEADER + f'a,1,"{SECRET}', "cannot be read"),
        (HEADER.encode() + b"\xff\xfe", "UTF-8"),
        (HEADER + "a\0,1,r,human,cited,3\n", "null bytes"),
        ("case,case,rater,kind,attribute,rating\n", "name of its own"),
        (HEADER + f"a,1,r,human,cited,{'9' * 200_000}\n", "cannot be read"),
    ],
)
def test_a_bad_file_is_refused_without_a_word_of_it(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        read(tmp_path, text)
    assert SECRET not in str(caught.value) and "Zebulon" not in str(caught.value)
    assert "ratings.csv" in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_ratings(tmp_path / "none.csv")


@settings(max_examples=60)
@given(text=st.text(max_size=120))
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.mktemp("r") / "ratings.csv"
    for content in (text, HEADER + text):
        file.write_text(content, encoding="utf-8", errors="replace", newline="")
        try:
            found = read_ratings(file)
        except InputError:
            continue
        assert all(one.attribute in ATTRIBUTES for one in found.rows)


# ---- tables ---------------------------------------------------------------------------------------------------------


def table(
    values: dict[str, list[float]], *, attribute: str = "useful", judge: list[float] | None = None
) -> list[Rating]:
    """Ratings by rater, over cases c0, c1, …"""
    rows = [
        Rating(f"c{place}", None, 0, rater, "human", attribute, value)
        for rater, given in values.items()
        for place, value in enumerate(given)
    ]
    return rows + [
        Rating(f"c{place}", None, 0, "gpt", "judge", attribute, value) for place, value in enumerate(judge or [])
    ]


def mean_row(tables: dict[str, Any], by: str, attribute: str = "useful") -> dict[str, Any]:
    return next(row for row in tables["means"] if row["attribute"] == attribute and row["by"] == by)


def agreement_row(tables: dict[str, Any], attribute: str = "useful") -> dict[str, Any]:
    return next(row for row in tables["agreement"] if row["attribute"] == attribute)


def test_means_by_hand() -> None:
    tables = quality_tables(table({"A": [4, 2, 5, 3], "B": [5, 3, 5, 2]}))
    by_case = np.array([4.5, 2.5, 5.0, 2.5])
    half = t_critical(0.95, 3) * by_case.std(ddof=1) / 2
    row = mean_row(tables, "human")
    assert row["mean"] == pytest.approx(3.625)
    assert row["low"] == pytest.approx(3.625 - half) and row["high"] == pytest.approx(min(5.0, 3.625 + half))
    assert (row["cases"], row["raters"], row["ratings"], row["status"]) == (4, 2, 8, "ok")
    assert row["reason"] == "only 4 cases"
    other = mean_row(tables, "human", "cited")
    assert other["status"] == "not assessed" and other["mean"] is None


def test_turns_of_a_case_are_one_case() -> None:
    rows = [Rating("a", turn, 0, "r", "human", "useful", value) for turn, value in ((1, 1.0), (2, 5.0))]
    row = mean_row(quality_tables([*rows, Rating("b", 1, 0, "r", "human", "useful", 5.0)]), "human")
    assert row["mean"] == 4.0 and row["cases"] == 2


def test_an_interval_that_cannot_be_seen_is_null_with_its_reason() -> None:
    row = mean_row(quality_tables(table({"A": [5.0] * 12})), "human")
    assert row["mean"] == 5.0 and row["low"] is None and "same mean" in row["reason"]
    alone = mean_row(quality_tables(table({"A": [4.0]})), "human")
    assert alone["mean"] == 4.0 and alone["high"] is None and "one case" in alone["reason"]


def test_stigmatising_is_a_share_with_an_interval_that_zero_does_not_close() -> None:
    row = mean_row(quality_tables(table({"A": [0.0] * 12}, attribute="stigmatising")), "human", "stigmatising")
    assert row["mean"] == 0 and row["low"] == 0
    assert row["high"] == pytest.approx(wilson(0.0, 12).high) and row["high"] > 0.2


def test_agreement_of_people_is_that_of_the_statistics() -> None:
    given_by = {"A": [4, 2, 5, 3, 1], "B": [5, 3, 5, 2, 2], "C": [4, 2, 4, 3, 1]}
    row = agreement_row(quality_tables(table({name: list(map(float, v)) for name, v in given_by.items()})))
    found = icc_agreement(np.array(list(given_by.values())).T)
    assert row["icc_2_1"]["value"] == pytest.approx(found.single.value)
    assert row["icc_2_k"]["low"] == pytest.approx(found.mean.low)
    assert (row["people"], row["units"], row["kappa_people"]["pairs"]) == (3, 5, 3)
    from sklearn.metrics import cohen_kappa_score

    names = list(given_by)
    kappas = [
        cohen_kappa_score(given_by[a], given_by[b], weights="quadratic", labels=[1, 2, 3, 4, 5])
        for a, b in (names[:2], names[1:], names[::2])
    ]
    assert row["kappa_people"]["value"] == pytest.approx(float(np.mean(kappas)))


def test_things_that_not_all_people_rated_are_left_out_of_the_icc_and_told() -> None:
    rows = table({"A": [4.0, 2.0, 5.0, 3.0], "B": [5.0, 3.0, 4.0]})
    row = agreement_row(quality_tables(rows))
    assert (row["units"], row["units_in_all"]) == (3, 4)
    apart = [Rating("a", None, 0, "A", "human", "useful", 3.0), Rating("b", None, 0, "B", "human", "useful", 4.0)]
    told = agreement_row(quality_tables(apart))
    assert told["icc_2_1"]["value"] is None and "rated by all people" in told["icc_2_1"]["reason"]
    assert told["kappa_people"]["value"] is None and "same thing" in told["kappa_people"]["reason"]


def test_a_judge_is_shown_beside_its_agreement_only() -> None:
    people = {"A": [4.0, 2.0, 5.0, 3.0], "B": [5.0, 3.0, 5.0, 2.0]}
    shown = quality_tables(table(people, judge=[4.0, 2.0, 5.0, 2.0]))
    row = mean_row(shown, "judge")
    assert row["status"] == "ok" and row["mean"] == pytest.approx(3.25)
    kappa = agreement_row(shown)["judges"]["gpt"]
    assert kappa["value"] is not None and kappa["pairs"] == 2 and 0 < kappa["equal"] < 1


@pytest.mark.parametrize(
    ("people", "judge", "why"),
    [
        ({}, [4.0, 5.0], "nobody rated it beside the judge"),
        ({"A": [4.0, 4.0]}, [4.0, 4.0], "every rating is the same"),
    ],
)
def test_a_judge_without_agreement_is_withheld(people: dict[str, list[float]], judge: list[float], why: str) -> None:
    row = mean_row(quality_tables(table(people, judge=judge)), "judge")
    assert row["status"] == "withheld" and row["mean"] is None and row["low"] is None and row["high"] is None
    assert why in row["reason"]


def test_a_judge_of_other_cases_is_withheld() -> None:
    rows = [
        *table({"A": [3.0, 4.0]}),
        *(Rating(f"z{n}", None, 0, "gpt", "judge", "useful", 5.0) for n in range(3)),
    ]
    assert mean_row(quality_tables(rows), "judge")["status"] == "withheld"


def test_judges_alone_assess_nothing() -> None:
    tables = quality_tables(table({}, judge=[4.0, 5.0]))
    assert tables["status"] == "not assessed" and tables["reason"] == "no rating by people"


@pytest.mark.parametrize("nothing", [None, [], Ratings(), Ratings(blank=3)])
def test_nothing_rated_is_not_assessed(nothing: Any) -> None:
    tables = quality_tables(nothing)
    assert tables["status"] == "not assessed" and tables["means"] == [] and tables["agreement"] == []


ratings = st.lists(
    st.builds(
        Rating,
        case=st.sampled_from("abcde"),
        turn=st.one_of(st.none(), st.integers(1, 2)),
        replicate=st.just(0),
        rater=st.sampled_from(["A", "B"]),
        kind=st.just("human"),
        attribute=st.sampled_from(["useful", "cited"]),
        rating=st.integers(1, 5).map(float),
    ),
    max_size=30,
    unique_by=lambda one: one[:6],
)


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers(held) for key, held in value.items()}
    if isinstance(value, list):
        return [_numbers(held) for held in value]
    return round(value, 9) + 0.0 if isinstance(value, float) else value


@settings(max_examples=40)
@given(ratings, st.randoms(use_true_random=False))
def test_order_of_rows_and_names_of_raters_change_nothing(rows: list[Rating], random: Any) -> None:
    import json

    shuffled = list(rows)
    random.shuffle(shuffled)
    here, there = quality_tables(rows), quality_tables(shuffled)
    assert _numbers(here) == _numbers(there)
    swapped = [one._replace(rater={"A": "B", "B": "A"}[one.rater]) for one in rows]
    assert _numbers(here) == _numbers(quality_tables(swapped))
    json.dumps(here, allow_nan=False)  # undefined is null, never NaN
    for row in here["means"]:
        assert row["mean"] is None or (1 <= row["mean"] <= 5 and not math.isnan(row["mean"]))


def test_columns_hold_people_only() -> None:
    rows = (
        Rating("a", 1, 0, "A", "human", "useful", 4.0),
        Rating("a", 2, 0, "A", "human", "useful", 5.0),
        Rating("a", 1, 0, "gpt", "judge", "useful", 1.0),
        Rating("a", None, 1, "A", "human", "stigmatising", 0.0),
    )
    assert rating_columns(Ratings(rows)) == {
        ("a", 0): {"live|pdsqi_useful": 4.5, "live|pdsqi_useful_known": 1.0},
        ("a", 1): {"live|pdsqi_stigmatising": 0.0, "live|pdsqi_stigmatising_known": 1.0},
    }
