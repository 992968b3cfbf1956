"""Labels given on the page of transcripts change agreement and corrected rates of the next run, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser_pages import browser, open_page
from tests.support.shell import call, differing
from tests.tasks.conversation.judges.studies import figures, truth, write_study
from workup.report import Report
from workup.tasks.conversation.labels import read_draw, read_labels

__all__ = ["browser"]
RECALL = ("recall", '{"arm": "live", "reader": "ppi", "set": "critical"}')


def ran(study: Path) -> Report:
    done = call("run", study, "-o", study.parent / "run")
    assert done.code in (0, 3), done.err
    return Report.read(study.parent / "run")


def agreement(report: Report) -> Any:
    return report.results["internal"].tables["readers"]


def rest(report: Report) -> Any:
    """The record without what labels may change: figures and table of readers, and the study that names the labels."""
    record = json.loads(report.to_json())
    internal = record["results"]["internal"]
    internal["tables"].pop("readers")
    internal["estimates"] = [one for one in internal["estimates"] if "reader" not in one["slice"]]
    for name in ("labelled", "draw"):
        record["study"]["conversation"].pop(name, None)
    record.pop("sha256")
    record.pop("metrics", None)
    return record


def answer(page: Any, *, drawn: bool, most: int) -> int:
    """Answer units by keyboard as they truly are; how many there were."""
    page.fill("#rater", "KB")
    if drawn:
        page.check("#by-draw")
    page.focus("#keys")
    for number in range(most):
        page.keyboard.press("j")
        if page.inner_text("#told") == "This is the last one.":
            return number
        case, _, _, turn, fact = page.locator(".now").get_attribute("id").split("/")
        true = truth(case, int(turn), fact)
        page.keyboard.press("a" if true == "correct" else "d")
        if true != "correct":
            page.locator("#choices button", has_text=true).press("Enter")
    return most


def save(page: Any, file: Path) -> None:
    with page.expect_download() as waiting:
        page.click("#save")
    waiting.value.save_as(file)


@pytest.fixture(scope="module")
def desk(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Report]:
    """A run, its draw of 60 units, and the blind page of it."""
    folder = tmp_path_factory.mktemp("labels")
    study = write_study(folder)
    plain = ran(study)
    assert call("label", "draw", folder / "run", "--count", "60").code == 0
    done = call("view", folder / "run", "--blind")
    assert done.code == 0, done.err
    return study, plain


def named(study: Path) -> None:
    """The study names the labels of the page, and the draw that lies in the run directory."""
    content = json.loads(study.read_text())
    content["conversation"] |= {"labelled": "labelled.jsonl", "draw": "run/draw.json"}
    study.write_text(json.dumps(content))


def test_labels_of_the_page_change_agreement_and_corrected_rates_and_nothing_else(
    browser: Any, desk: tuple[Path, Report]
) -> None:
    study, plain = desk
    file = study.parent / "labelled.jsonl"
    watched = open_page(browser, (study.parent / "run" / "view" / "index.html").as_uri())
    assert answer(watched.page, drawn=True, most=100) == 60
    save(watched.page, file)
    watched.page.close()
    draw = read_draw(study.parent / "run" / "draw.json")
    assert {one.unit for one in read_labels(file).labels} == set(draw.units)
    assert "Letter" not in file.read_text(), "a label holds no text"
    named(study)
    labelled = ran(study)
    assert figures(plain) == {} and agreement(plain)["labels"] is None
    assert figures(labelled)[RECALL].status == "ok"
    assert agreement(labelled)["labels"]["units"] == 60 and agreement(labelled)["labels"]["outside"] == 0
    assert differing(rest(labelled), rest(plain)) == set()

    # Labels of the same page outside the draw, added to these, change neither.
    watched = open_page(browser, (study.parent / "run" / "view" / "index.html").as_uri())
    answer(watched.page, drawn=False, most=12)
    save(watched.page, study.parent / "more.jsonl")
    watched.page.close()
    more = [json.loads(line) for line in (study.parent / "more.jsonl").read_text().splitlines()]
    outside = [line for line in more if line["draw"] is None]
    assert outside and all(line["blind"] for line in outside)
    with file.open("a") as lines:
        lines.writelines(json.dumps({**line, "rater": "LC"}) + "\n" for line in outside)
    again = ran(study)
    assert figures(again) == figures(labelled) and differing(rest(again), rest(labelled)) == set()
    assert agreement(again)["agreement"] == agreement(labelled)["agreement"]
    assert agreement(again)["labels"]["outside"] == len(outside)
