"""`workup score horizon`: a table of follow-up and risks, at the command line and from Python."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.followed_tables import followed_table
from tests.support.shell import call
from workup.score import score_horizon

TABLE = followed_table(240)
WORDS = np.array(["alive", "relapse", "dead"])


@pytest.fixture(scope="module", name="file")
def _file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("followed") / "cohort.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["days", "ended", "p1", "p2", "sex"])
        for i in range(240):
            ended = WORDS[int(TABLE["ended"][i])]
            rows.writerow([int(TABLE["days"][i]), ended, TABLE["p1"][i], TABLE["p2"][i], TABLE["sex"][i]])
    return path


OPTIONS = ["--followup", "days", "--status", "ended", "--risk", "365d=p1", "--risk", "730d=p2", "--replicates", "50"]
CODES = ["--code", "alive=censored", "--code", "relapse=event", "--code", "dead=competing"]


def test_the_command_gives_what_the_function_gives(file: Path) -> None:
    done = call("score", "horizon", file, *OPTIONS, *CODES, "--by", "sex", "--threshold", "0.2", "--json", "-")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    ours = score_horizon(
        {**TABLE, "ended": WORDS[TABLE["ended"].astype(int)].astype(object)},
        followup="days",
        status="ended",
        codes={"alive": "censored", "relapse": "event", "dead": "competing"},
        risk={"365d": "p1", "730d": "p2"},
        by=["sex"],
        thresholds=[0.2],
        replicates=50,
    )
    told = {(e["metric"], str(e["slice"])): e["value"] for e in record["results"]["internal"]["estimates"]}
    for e in json.loads(ours.to_json())["results"]["internal"]["estimates"]:
        assert told[e["metric"], str(e["slice"])] == e["value"]


def test_gates_decide_the_exit_code(file: Path) -> None:
    rule = ["--gate", "auroc{horizon=365d}.low >= 0.99"]
    done = call("score", "horizon", file, *OPTIONS, *CODES, *rule)
    assert done.code == 1 and "AUROC" in done.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--followup", "days", "--status", "ended", "--risk", "p1"], "--risk must be NAME=VALUE"),
        (["--followup", "days", "--status", "ended", "--risk", "365=p1"], "bare number"),
        ([*OPTIONS], "a status must be one of"),
        ([*OPTIONS, *CODES, "--unit", "parsec"], "unit"),
        (["--status", "ended", "--risk", "365d=p1", *CODES], "expected followup, or event_time"),
        ([*OPTIONS, *CODES, "--stratum", "sexx"], "did you mean 'sex'"),
    ],
)
def test_what_cannot_be_right_is_refused_with_a_remedy(file: Path, options: list[str], message: str) -> None:
    done = call("score", "horizon", file, *options)
    assert done.code == 2 and message in " ".join(done.err.split())
