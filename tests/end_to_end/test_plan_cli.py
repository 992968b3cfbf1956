"""`workup plan`: the answers people check by hand, clean JSON, reports whole or not at all, and errors that teach."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import call, spawn
from workup.report import Report


def record(*words: str) -> dict[str, Any]:
    done = call("plan", *words, "--json", "-")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def requirement(*words: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = record(*words)["results"]["power"]["tables"]["requirement"]
    return rows


@pytest.mark.parametrize(
    ("words", "n"),
    [
        (("--p1", "0.80", "--p2", "0.85"), 906),
        (("--p1", "0.80", "--p2", "0.75"), 1094),
        (("--p1", "0.80", "--difference", "0.05"), 1094),
        (("--p1", "0.80", "--p2", "0.85", "--method", "continuity"), 945),
        (("--p1", "0.80", "--p2", "0.85", "--method", "arcsine"), 903),
        (("--p1", "0.80", "--p2", "0.70", "--groups", "3"), 392),
        (("--p1", "0.80", "--p2", "0.70", "--groups", "3", "--testing", "versus-reference"), 356),
        (("--p1", "0.80", "--p2", "0.70", "--groups", "3", "--adjust", "none"), 294),
    ],
)
def test_two_proportions(words: tuple[str, ...], n: int) -> None:
    assert requirement("proportions", *words)[0]["needed"] == n


def test_the_text_shows_both_directions_and_the_one_taken() -> None:
    done = call("plan", "proportions", "--p1", "0.80", "--difference", "0.05")
    assert done.code == 0
    assert done.out.startswith("Sample-size report")
    assert "1,094" in done.out
    assert "906" in done.out
    assert "the larger is taken" in done.out


def test_groups_are_named_with_share_and_prevalence_one_by_one_or_together() -> None:
    first = requirement("proportions", "--p1", "0.8", "--p2", "0.85", "--groups", "A:0.9:0.1", "--groups", "B:0.1:0.2")
    second = requirement("proportions", "--p1", "0.8", "--p2", "0.85", "--groups", "A:0.9:0.1,B:0.1:0.2")
    assert first == second
    assert [row["patients"] for row in first] == [9060, 4530, 13590]
    assert first[-1]["enrolled"] == 45_300


def test_what_the_data_at_hand_reach() -> None:
    tables = record("proportions", "--p1", "0.8", "--p2", "0.7", "--n", "75")["results"]["power"]["tables"]
    assert tables["reached"][0]["power"] == pytest.approx(0.29136, abs=1e-5)
    assert tables["smallest_difference"][0]["lower"] > 0.2


@pytest.mark.parametrize(
    ("words", "n"),
    [
        (("auc", "--auc1", "0.80", "--auc2", "0.85", "--prevalence", "0.1"), 4224),
        (("auc", "--auc1", "0.80", "--auc2", "0.85", "--prevalence", "0.1", "--correlation", "0.5"), 2124),
        (("precision", "--prevalence", "0.1", "--cstatistic", "0.8", "--lp-mean", "-2.5", "--lp-sd", "1.1"), 4778),
        (("develop", "--prevalence", "0.2", "--parameters", "10", "--cox-snell", "0.2"), 398),
        (("leak", "--bound", "0.01", "--sides", "one", "--bound-method", "clopper-pearson"), 299),
        (("leak", "--recall1", "0.95", "--recall2", "0.90"), 435),
        (("decay", "--slope", "-0.02", "--slope-sd", "0.03"), 24),
        (("decay", "--live", "0.80", "--oracle", "0.95", "--icc", "0.2"), 24),
    ],
)
def test_every_other_plan(words: tuple[str, ...], n: int) -> None:
    assert requirement(*words)[0]["needed"] == n


def test_a_gatekeeper_is_the_same_from_one_seed_and_moves_with_another() -> None:
    words = ("proportions", "--p1", "0.8", "--p2", "0.6", "--groups", "3", "--testing", "gatekeeper")
    first, again, other = (record(*words, "--seed", seed) for seed in ("1", "1", "2"))
    assert first == again
    assert first["seed"] == 1
    sizes = [one["results"]["power"]["tables"]["requirement"][0]["needed"] for one in (first, other)]
    assert abs(sizes[0] - sizes[1]) <= 0.1 * sizes[0]


def test_a_folder_gets_the_record_and_its_pages(tmp_path: Path) -> None:
    out = tmp_path / "new" / "plan"
    words = (
        "plan",
        "auc",
        "--auc1",
        "0.8",
        "--difference",
        "0.05",
        "--prevalence",
        "0.1",
        "--name",
        "Spring",
        "-o",
        out,
    )
    done = call(*words)
    assert done.code == 0, done.err
    assert sorted(file.name for file in out.iterdir()) == ["report.html", "report.json", "report.md"]
    report = Report.read(out)
    assert report.study["name"] == "Spring"
    assert "Sample-size report" in (out / "report.md").read_text(encoding="utf-8")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "<svg" in page
    before = {file.name: file.read_bytes() for file in out.iterdir()}
    assert call(*words).code == 0
    assert {file.name: file.read_bytes() for file in out.iterdir()} == before


def test_a_report_can_be_drawn_again_from_its_record(tmp_path: Path) -> None:
    done = call("plan", "develop", "--prevalence", "0.2", "--parameters", "10", "--cox-snell", "0.2", "-o", tmp_path)
    assert done.code == 0
    again = call("report", tmp_path, "-f", "text")
    assert again.out == done.out


def test_a_folder_that_cannot_hold_them_gets_none_of_them(tmp_path: Path) -> None:
    (tmp_path / "report.html").mkdir()
    done = call("plan", "proportions", "--p1", "0.8", "--p2", "0.7", "-o", tmp_path)
    assert done.code == 2
    assert "report.html" in done.err
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    done = call("plan", "proportions", "--p1", "0.8", "--p2", "0.7", "-o", blocked)
    assert done.code == 2
    assert blocked.read_text() == "in the way"


def test_a_slip_in_one_path_leaves_nothing_in_the_other(tmp_path: Path) -> None:
    words = ("plan", "proportions", "--p1", "0.8", "--p2", "0.7", "-o", tmp_path / "a", "--json")
    done = call(*words, tmp_path / "b" / "c.json")
    assert done.code == 2
    assert "no such folder" in done.err
    assert not done.out
    assert not list(tmp_path.iterdir())
    done = call(*words, tmp_path / "a" / "c.json")
    assert done.code == 0, done.err
    assert (tmp_path / "a" / "c.json").read_bytes() == (tmp_path / "a" / "report.json").read_bytes()


@pytest.mark.parametrize("content", ['{"study": {"task": "risk"}}', "[]", "not JSON"])
def test_the_record_of_something_else_is_not_written_over(tmp_path: Path, content: str) -> None:
    (tmp_path / "report.json").write_text(content)
    done = call("plan", "proportions", "--p1", "0.8", "--p2", "0.7", "-o", tmp_path)
    assert done.code == 2
    assert "report of something else" in done.err
    assert (tmp_path / "report.json").read_text() == content


def test_json_on_standard_output_is_all_that_is_there(tmp_path: Path) -> None:
    done = spawn("plan", "proportions", "--p1", "0.8", "--p2", "0.7", "--json", "-", "-o", tmp_path)
    assert done.code == 0, done.err
    assert Report.from_dict(json.loads(done.out)).study["kind"] == "proportions"
    assert "report.html" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("proportions", "--p1", "1.2", "--p2", "0.8"), "p1 must lie strictly between 0 and 1; got 1.2"),
        (("proportions", "--p1", "nan", "--p2", "0.8"), "p1 must lie strictly between 0 and 1"),
        (("proportions", "--p1", "0.8", "--difference", "0.9"), "not possible in either direction"),
        (("proportions", "--p1", "0.8"), "give p2 or difference"),
        (("proportions", "--p1", "0.8", "--p2", "0.7", "--testing", "all_pairs"), "did you mean 'all-pairs'?"),
        (("proportions", "--p1", "0.8", "--p2", "0.7", "--groups", "A:x"), "name:share:prevalence"),
        (("proportions", "--p1", "0.8", "--p2", "0.7", "--groups", "A:0.9,B:0.9"), "add to 1.8"),
        (("proportions", "--p1", "0.8", "--p2", "0.7", "--groups", "1"), "at least two groups"),
        (("proportions", "--p1", "0.8", "--p2", "0.7", "--groups", "²"), "at least two groups"),
        (("proportions", "--p1", "0.8", "--p2", "0.7", "--groups", "9" * 5000), "at most 100 groups"),
        (("proportions", "--p1", "0.8", "--p2", "0.7", "--alpha", "0"), "alpha must lie strictly"),
        (("auc", "--auc1", "0.8", "--auc2", "0.80000001", "--prevalence", "0.1"), "not feasible"),
        (("auc", "--auc1", "0.8", "--auc2", "0.7"), "needs the prevalence"),
        (("precision", "--prevalence", "0.1", "--groups", "3"), "need names and shares"),
        (("leak", "--bound", "0.01", "--leak-rate", "0.02"), "not feasible"),
        (("leak", "--bound", "0.01", "--sides", "three"), "sides must be one or two"),
        (("decay", "--slope", "-0.2"), "recall would leave 0 to 1"),
    ],
)
def test_bad_input_is_one_message_and_the_code_2(words: tuple[str, ...], message: str) -> None:
    done = call("plan", *words)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert not done.out


@pytest.mark.parametrize("kind", ["proportions", "auc", "precision", "develop", "leak", "decay"])
def test_help_shows_an_example(kind: str) -> None:
    done = call("plan", kind, "--help")
    assert done.code == 0
    assert f"workup plan {kind}" in done.out
    for option in ("--json", "--out", "--quiet", "--name"):
        assert option in done.out
