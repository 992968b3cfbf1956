"""The commands from end to end: what they make, what they say, and the exit codes that scripts rely on."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import workup
from tests.support.places import FIXTURE, ROOT
from tests.support.shell import COMMAND, SECRET, Done, call, cohort, differing, risk_words, spawn, write
from workup.cli import new as starting
from workup.report import Report, digest
from workup.report_schema import SCHEMA_VERSION
from workup.runs import RunDirectory
from workup.study import Study
from workup.tasks.risk import selftest


def new(folder: Path, monkeypatch: pytest.MonkeyPatch, task: str = "risk") -> Done:
    """`workup new` with a corpus and resamples that take a second and not a minute."""
    sizes = {"risk": 300, "survival": 300, "episodes": 120, "spans": 40, "conversation": 6}
    monkeypatch.setattr(starting, "_SIZES", sizes)
    made = call("new", task, folder)
    file = folder / "study.yaml"
    text = file.read_text(encoding="utf-8")
    assert "replicates: 2000" in text
    file.write_text(text.replace("replicates: 2000", "replicates: 200"), encoding="utf-8")
    return made


def study(folder: Path, **changes: Any) -> Path:
    """A study of recorded risks."""
    write(folder / "cohort.csv", cohort(200))
    columns = {"outcome": "died", "risk": "p", "patient": "patient", "groups": ["sex"]}
    content = {"name": "small", "task": "risk", "corpus": {"path": "cohort.csv"}, "columns": columns}
    content |= {"thresholds": [0.3], "bootstrap": {"replicates": 200}}
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump({**content, **changes}))
    return file


# demo, new, run, verify, report, clean


def test_demo_makes_one_page_whose_links_resolve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for task in ("risk", "survival", "episodes", "spans"):
        new(tmp_path / "demo" / task, monkeypatch, task)
    done = call("demo", "-o", tmp_path / "demo")
    assert done.code == 0, done.err
    page = tmp_path / "demo" / "index.html"
    assert str(page) in done.out
    assert "auroc" in done.out and "leak_rate_document" in done.out
    html = page.read_text(encoding="utf-8")
    links = re.findall(r'href="([^"]+)"', html)
    assert len(links) >= 3
    for link in links:
        assert (page.parent / link).is_file(), link
    assert "http" not in html, "the page asks nothing of the outside"
    again = call("demo", "-o", tmp_path / "demo")
    assert (again.code, again.out) == (0, done.out)


@pytest.mark.parametrize("task", ["risk", "survival", "episodes", "spans"])
def test_from_new_to_clean(task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "mine"
    made = new(folder, monkeypatch, task)
    assert (made.code, made.out) == (0, "")
    assert f"workup run {folder / 'study.yaml'}" in made.err

    ran = call("run", folder / "study.yaml", "--allow-unsure")
    assert ran.code in (0, 1), ran.err
    place = folder / "runs" / "first-study"
    held = {file.name for file in place.iterdir()}
    assert {"report.json", "report.md", "report.txt", "timings.json", "run.log", "details.jsonl"} <= held

    verified = call("verify", place)
    assert (verified.code, verified.out) == (0, "")
    assert "the same" in verified.err

    for form, file in (("md", "report.md"), ("text", "report.txt"), ("json", "report.json")):
        drawn = call("report", place, "-f", form)
        assert (drawn.code, drawn.err) == (0, "")
        assert drawn.out == (place / file).read_text(encoding="utf-8")
    assert call("report", place / "report.json", "-o", tmp_path / "again.txt").out == ""
    assert (tmp_path / "again.txt").read_text(encoding="utf-8") == (place / "report.txt").read_text(encoding="utf-8")

    cleaned = call("clean", place)
    assert cleaned.code == 0
    assert "details.jsonl" in cleaned.err
    assert (place / "report.json").exists()
    assert not (place / "details.jsonl").exists()
    assert not list((place / "outputs").glob("*")) if (place / "outputs").exists() else True
    assert "nothing to remove" in call("clean", place).err


def test_new_leaves_a_folder_with_files_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    done = call("new", "risk", tmp_path / "mine")
    assert done.code == 2
    assert "new or empty" in done.err
    assert [file.name for file in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("new", "rsik"), "risk"),
        (("report", "nowhere"), "run the study first"),
        (("verify", "nowhere"), "run the study first"),
        (("clean", "nowhere"), "not a run directory"),
        (("run", "nowhere.yaml"), "no such study file"),
        (("selftest", "rsik"), "did you mean 'risk'?"),
        (
            ("corpus", "generate", "--kind", "cohrt", "--count", "9", "--seed", "1", "-o", "x.csv"),
            "did you mean 'cohort'?",
        ),
        (("rnu", "study.yaml"), "run"),
    ],
)
def test_what_is_not_there_is_a_message(
    words: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call(*words)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_form_of_report_is_answered_with_the_near_ones(tmp_path: Path) -> None:
    done = call("report", FIXTURE, "-f", "markdwn", "-o", tmp_path / "x")
    assert done.code == 2
    assert re.search(r"Known: .*\bmd\b.*\btext\b", done.err)
    assert list(tmp_path.iterdir()) == []


# verify


def _rewrite(run: Path, change: Callable[[dict[str, Any]], object], *, signed: bool) -> None:
    file = run / "report.json"
    record = json.loads(file.read_text(encoding="utf-8"))
    change(record)
    if signed:
        record["sha256"] = digest(record)
    file.write_text(json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def test_verify_finds_a_number_that_was_changed_and_signed_again(tmp_path: Path) -> None:
    file = study(tmp_path)
    assert call("run", file, "-o", tmp_path / "run").code == 0
    _rewrite(tmp_path / "run", lambda r: r["results"]["internal"]["estimates"][0].update(value=0.99), signed=True)
    done = call("verify", tmp_path / "run")
    assert done.code == 1
    assert "results.internal.estimates[0].value: recorded 0.99, now 0." in done.out
    assert "sha256" in done.out
    assert call("verify", tmp_path / "run", "--tolerance", "1e-9").code == 1
    assert call("verify", tmp_path / "run", "--tolerance", "1").code == 0


def test_a_record_that_was_changed_and_not_signed_is_refused(tmp_path: Path) -> None:
    assert call("run", study(tmp_path), "-o", tmp_path / "run").code == 0
    _rewrite(tmp_path / "run", lambda r: r.update(seed=99), signed=False)
    for words in (("verify", tmp_path / "run"), ("report", tmp_path / "run")):
        done = call(*words)
        assert (done.code, done.out) == (2, "")
        assert "does not match its own sha256" in done.err


def test_verify_finds_another_table_or_another_study(tmp_path: Path) -> None:
    file = study(tmp_path)
    assert call("run", file, "-o", tmp_path / "run").code == 0
    study(tmp_path, seed=5)
    changed = call("verify", tmp_path / "run")
    assert changed.code == 1
    assert "results.internal.estimates" in changed.out
    study(tmp_path)
    assert call("verify", tmp_path / "run").code == 0
    columns = cohort(200)
    columns["died"][0] = str(1 - int(columns["died"][0]))
    write(tmp_path / "cohort.csv", columns)
    other = call("verify", tmp_path / "run")
    assert other.code == 1
    assert "corpus.sha256" in other.out


MODEL = """
import json, sys
open("calls.txt", "a").write("x")
for line in sys.stdin:
    row = json.loads(line)
    print(json.dumps({"id": row["id"], "risk": 0.5 + 0.4 * (row["x1"] > 0) - 0.2 * (row["x2"] > 0)}))
"""


def program(folder: Path) -> Path:
    """A study of a program."""
    folder.mkdir(exist_ok=True)
    (folder / "model.py").write_text(MODEL)
    settings = {"run": [sys.executable, "model.py"], "send": ["x1", "x2"]}
    return study(
        folder,
        columns={"outcome": "died", "patient": "patient"},
        systems=[{"name": "program", "use": "command", "with": settings}],
    )


def _outputs(run: Path) -> Path:
    [file] = (run / "outputs").glob("*.jsonl")
    return file


def test_verify_scores_the_recorded_outputs_and_asks_no_system(tmp_path: Path) -> None:
    assert call("run", program(tmp_path), "-o", tmp_path / "run").code == 0
    before = {file: file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file()}
    assert call("verify", tmp_path / "run").code == 0
    assert (tmp_path / "calls.txt").read_text() == "x"
    after = {file: file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file()}
    changed = {file.name for file in {*before, *after} if before.get(file) != after.get(file)}
    assert changed <= {".lock"}, "verify looks and does not touch"


def test_verify_finds_outputs_that_were_changed(tmp_path: Path) -> None:
    assert call("run", program(tmp_path), "-o", tmp_path / "run").code == 0
    log = _outputs(tmp_path / "run")
    lines = log.read_bytes().splitlines()
    body = lines[0].split(b',"check"')[0]
    risk = json.loads(lines[0])["output"]
    forged = body.replace(str(risk).encode(), b"0.123")
    assert forged != body
    plain = forged + b"," + lines[0].split(b",")[-1]
    log.write_bytes(b"\n".join([plain, *lines[1:]]) + b"\n")
    refused = call("verify", tmp_path / "run")
    assert (refused.code, refused.out) == (2, "")
    assert "line 1: the record does not match its checksum" in refused.err
    log.write_bytes(b"\n".join([forged + b',"check":"%08x"}' % zlib.crc32(forged), *lines[1:]]) + b"\n")
    found = call("verify", tmp_path / "run")
    assert found.code == 1
    assert "results.internal" in found.out


def test_verify_after_clean_says_that_the_outputs_are_gone_and_asks_no_system(tmp_path: Path) -> None:
    assert call("run", program(tmp_path), "-o", tmp_path / "run").code == 0
    call("clean", tmp_path / "run")
    done = call("verify", tmp_path / "run")
    assert (tmp_path / "calls.txt").read_text() == "x", "verify asked the system again"
    assert done.code == 2
    assert "outputs" in done.err


def test_verify_of_a_study_that_was_moved(tmp_path: Path) -> None:
    assert call("run", study(tmp_path / "old"), "-o", tmp_path / "run").code == 0
    (tmp_path / "old").rename(tmp_path / "new")
    assert call("verify", tmp_path / "run").code == 2
    assert call("verify", tmp_path / "run", "--study", tmp_path / "new" / "study.yaml").code == 0


# Streams and exit codes


def test_json_alone_stands_on_standard_output(tmp_path: Path) -> None:
    done = spawn(*risk_words(write(tmp_path / "cohort.csv", cohort(60)), "--json", "-"))
    assert done.code == 0
    assert json.loads(done.out)["schema_version"] == SCHEMA_VERSION
    assert done.err == ""


def test_json_into_a_file_is_the_same_record_and_the_text_is_shown(tmp_path: Path) -> None:
    table = write(tmp_path / "cohort.csv", cohort(60))
    out = tmp_path / "out.json"
    done = call(*risk_words(table, "--json", str(out)))
    assert done.out.startswith("Validation report\n")
    assert out.read_text(encoding="utf-8") == call(*risk_words(table, "--json", "-")).out
    assert Report.read(out).corpus["n_cases"] == 60
    quiet = call(*risk_words(table, "--json", str(out), "--quiet"))
    assert quiet.err == ""


GATES = [
    ("auroc.low >= 0.5", 0, 0),
    ("auroc.low >= 0.99", 1, 1),
    ("auroc.low >= 0.8", 3, 0),
]


@pytest.mark.parametrize(("gate", "code", "allowed"), GATES)
def test_the_exit_code_says_what_the_gates_say(gate: str, code: int, allowed: int, tmp_path: Path) -> None:
    table = write(tmp_path / "cohort.csv", cohort(200))
    assert call(*risk_words(table, "--gate", gate)).code == code
    assert call(*risk_words(table, "--gate", gate, "--allow-unsure")).code == allowed
    file = study(tmp_path, gates=[gate], thresholds=[])
    ran = call("run", file, "-o", tmp_path / "run")
    assert ran.code == code
    assert gate in ran.out
    assert call("run", file, "-o", tmp_path / "run", "--allow-unsure").code == allowed


def test_a_gate_on_a_threshold_that_the_study_lacks_is_refused(tmp_path: Path) -> None:
    table = write(tmp_path / "cohort.csv", cohort(200))
    for words in (
        ("--gate", "sensitivity.low >= 0.5"),
        ("--gate", "ppv{threshold=0.3}.low >= 0.1", "--threshold", "0.2"),
    ):
        done = call(*risk_words(table, *words), "--allow-unsure")
        assert (done.code, done.out) == (2, "")
        assert "threshold" in done.err


def test_one_failed_gate_outweighs_the_unsure(tmp_path: Path) -> None:
    gates = ("--gate", "auroc.low >= 0.8", "--gate", "auroc.low >= 0.99", "--gate", "auroc.low >= 0.5")
    assert call(*risk_words(write(tmp_path / "cohort.csv", cohort(200)), *gates)).code == 1


def test_a_baseline_report_is_read_and_judged_against(tmp_path: Path) -> None:
    old = study(tmp_path / "old")
    assert call("run", old, "-o", tmp_path / "old" / "run").code == 0
    file = study(tmp_path, baseline="old/run/report.json", gates=["auroc.value >= baseline", "brier.value < baseline"])
    done = call("run", file, "-o", tmp_path / "run")
    assert done.code == 1
    assert [v.outcome for v in Report.read(tmp_path / "run").verdicts] == ["pass", "fail"]


@pytest.mark.skipif(os.name == "nt", reason="modes of files are a POSIX matter")
def test_only_the_owner_can_read_a_run(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert call("run", program(tmp_path), "-o", tmp_path / "run").code == 0
    finally:
        os.umask(before)
    for path in [tmp_path / "run", *(tmp_path / "run").rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path.name
    assert (tmp_path / "run" / ".gitignore").read_text() == "*\n"


def test_no_file_of_a_run_holds_an_id_or_a_note(tmp_path: Path) -> None:
    assert call("run", program(tmp_path), "-o", tmp_path / "run").code == 0
    for file in (tmp_path / "run").rglob("*"):
        if file.is_file():
            assert SECRET.encode() not in file.read_bytes(), file.name


def test_paths_in_the_record_start_from_the_study(tmp_path: Path) -> None:
    call("run", study(tmp_path), "-o", tmp_path / "run")
    assert str(tmp_path) not in (tmp_path / "run" / "report.json").read_text()


# run


def test_a_dry_run_checks_and_writes_nothing(tmp_path: Path) -> None:
    file = study(tmp_path, gates=["auroc.low >= 0.5"])
    done = call("run", file, "--dry-run")
    assert done.code == 0
    for words in ("200 cases", "200 patients", "recorded", "internal"):
        assert words in done.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cohort.csv", "study.yaml"]


@pytest.mark.parametrize(
    "changes",
    [
        {"gates": ["aurok.low >= 0.5"]},
        {"lenses": {"internl": {}}},
        {"engine": "serail"},
        {"baseline": "nowhere.json"},
        {"systems": [{"use": "comand"}]},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_dry_run_finds_what_a_run_would_refuse(changes: dict[str, Any], tmp_path: Path) -> None:
    assert call("run", study(tmp_path, **changes), "-o", tmp_path / "run").code == 2
    assert call("run", tmp_path / "study.yaml", "--dry-run").code == 2


def test_a_study_with_an_unknown_field_names_the_line_and_the_near_name(tmp_path: Path) -> None:
    file = study(tmp_path)
    file.write_text(file.read_text() + "treshold: 0.2\n")
    done = call("run", file)
    assert (done.code, done.out) == (2, "")
    assert f"line {len(file.read_text().splitlines())}, 'treshold'" in done.err
    assert "did you mean 'thresholds'?" in done.err
    assert not (tmp_path / "runs").exists()


def test_several_systems_have_a_folder_each(tmp_path: Path) -> None:
    systems = [{"name": name, "use": "recorded", "with": {"column": "p"}} for name in ("first", "second one")]
    done = call("run", study(tmp_path, systems=systems), "-o", tmp_path / "run")
    assert done.code == 0, done.err
    folders = [place for place in (tmp_path / "run").iterdir() if place.is_dir()]
    assert {Report.read(folder).system["name"] for folder in folders} == {"first", "second one"}
    assert (tmp_path / "run" / "comparison.json").exists()
    for folder in folders:
        assert call("verify", folder).code == 0


CRASHING = f"""
class Model:
    name, version = "mine", "1"
    def predict(self, table):
        raise ValueError("{SECRET}")
"""


@pytest.mark.parametrize("engine", ["serial", "processes"])
def test_a_model_of_your_own_that_crashes_is_a_message(engine: str, tmp_path: Path) -> None:
    (tmp_path / "crashing_model.py").write_text(CRASHING)
    columns = {"outcome": "died", "patient": "patient"}
    file = study(tmp_path, columns=columns, systems=[{"name": "mine", "use": "crashing_model:Model"}])
    done = spawn("run", file, "-o", tmp_path / "run", "--engine", engine, "--workers", "1")
    assert done.code == 2
    assert "Traceback" not in done.err
    assert SECRET not in done.err
    assert "mine" in done.err
    assert "ValueError" in done.err


def test_a_program_that_crashes_is_a_message_and_keeps_its_own_words(tmp_path: Path) -> None:
    file = program(tmp_path)
    (tmp_path / "model.py").write_text("import sys\nsys.stderr.write('no licence\\n')\nsys.exit(4)\n")
    done = spawn("run", file, "-o", tmp_path / "run")
    assert done.code == 2
    assert "no licence" in done.err
    assert "exit code 4" in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "run" / "report.json").exists()


def test_a_second_writer_is_kept_out(tmp_path: Path) -> None:
    with RunDirectory.open(tmp_path / "run"):
        done = call("run", study(tmp_path), "-o", tmp_path / "run")
    assert done.code == 2
    assert "another run is writing here" in done.err


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    words = [*COMMAND, *map(str, risk_words(write(tmp_path / "cohort.csv", cohort(60)), "--json", "-"))]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    process.wait(60)
    process.stderr.close()
    assert b"Traceback" not in err
    assert b"Exception ignored" not in err


# selftest, corpus, plugins, schema, doctor, help


class _Check:
    def __init__(self, passed: bool) -> None:
        self.name, self.expected, self.observed, self.passed = "ranking: planted", "1", "0.5", passed


@pytest.mark.parametrize(("passed", "code", "word"), [(True, 0, "ok"), (False, 1, "FAIL")])
def test_selftest_exits_1_when_a_planted_answer_is_not_recovered(
    passed: bool, code: int, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selftest, "run", lambda *, seed=0: [_Check(True), _Check(passed)])
    done = call("selftest", "risk")
    assert done.code == code
    assert done.out.splitlines()[1].startswith(word)
    assert f"{1 + passed} of 2" in done.err


def test_a_generated_corpus_follows_from_its_seed_and_can_be_scored(tmp_path: Path) -> None:
    tables = []
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        out = tmp_path / name / "cohort.csv"
        out.parent.mkdir()
        done = call("corpus", "generate", "--kind", "cohort", "--count", "200", "--seed", seed, "-o", out)
        assert (done.code, done.out) == (0, "")
        tables.append(out.read_bytes())
    assert tables[0] == tables[1] != tables[2]
    words = risk_words(tmp_path / "a" / "cohort.csv", "--patient", "patient", outcome="outcome", risk="risk")
    assert call(*words).code == 0


@pytest.mark.parametrize("words", [("--count", "0"), ("--count", "-4"), ("--plan", "nowhere.yaml")])
def test_a_corpus_that_cannot_be_made_is_a_message(words: tuple[str, ...], tmp_path: Path) -> None:
    given = {"--kind": "cohort", "--count": "9", "--seed": "1", "-o": str(tmp_path / "x.csv"), words[0]: words[1]}
    done = call("corpus", "generate", *(word for pair in given.items() for word in pair))
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err
    assert list(tmp_path.iterdir()) == []


def test_what_is_installed_is_listed() -> None:
    done = call("plugins", "--json", "-")
    found = json.loads(done.out)
    assert found["lenses"]["internal"] == "workup.lenses.internal:internal"
    assert done.err == ""
    assert "internal" in call("plugins").out


def test_the_schema_knows_every_field_of_a_study() -> None:
    schema = json.loads(call("schema").out)
    assert {"name", "task", "corpus", "columns", "gates"} <= set(schema["properties"])
    assert schema["additionalProperties"] is False


def test_the_doctor_says_versions_and_extras() -> None:
    done = call("doctor")
    assert done.code == 0
    for word in ("python", "numpy", "scipy", "extra tables", "extra sklearn"):
        assert word in done.out


@pytest.mark.parametrize("words", [(), ("score",), ("corpus",)])
def test_no_command_is_answered_with_help(words: tuple[str, ...]) -> None:
    done = call(*words)
    assert done.code in (0, 2)
    assert "Usage:" in done.out + done.err
    assert "Commands:" in done.out + done.err


def test_the_version_is_said() -> None:
    assert call("--version").out == f"workup {workup.__version__}\n"


# examples

# Those whose corpus a script makes of data beside the project have a test of their own.
EXAMPLES = [
    path
    for path in sorted((ROOT / "examples").glob("*/study.yaml"))
    if (part := Study.load(path).corpus).path is None or (path.parent / part.path).exists()
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_example_runs_and_verifies(example: Path, tmp_path: Path) -> None:
    ran = call("run", example, "-o", tmp_path / "run", "--allow-unsure")
    assert ran.code in (0, 1), ran.err
    runs = [record.parent for record in sorted((tmp_path / "run").rglob("report.json"))]
    assert len(runs) == max(1, len(Study.load(example).systems))
    for run in runs:
        assert call("verify", run).code == 0


def test_two_runs_of_one_study_differ_nowhere(tmp_path: Path) -> None:
    file = study(tmp_path)
    for name in ("one", "other"):
        assert call("run", file, "-o", tmp_path / name).code == 0
    records = [json.loads((tmp_path / name / "report.json").read_text()) for name in ("one", "other")]
    assert differing(*records) == set()
