"""YAML and JSON that unfold, nest or repeat without end, through every command that reads such a file of a user's: one
message within bounded time and memory, never a crash."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.support import shell

MEMORY = 3 * 2**30


def bounded(*words: str | Path) -> shell.Done:
    """`workup` in a process of its own, with little memory and half a minute of its own time."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (30, 31))

    done = subprocess.run(
        [*shell.COMMAND, *map(str, words)], capture_output=True, text=True, timeout=200, preexec_fn=limited, check=False
    )
    return shell.Done(done.returncode, done.stdout, done.stderr)


def refused(done: shell.Done) -> str:
    assert done.code == 2, (done.code, done.err[-2000:])
    assert "Usage:" not in done.err and "Traceback" not in done.err and done.err.count("\n") <= 3
    return done.err


def laughs() -> str:
    lines = ['a0: &a0 "ha ha ha ha ha ha"'] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 11)]
    return "\n".join(lines)


YAMLS = {
    "billion laughs": (laughs(), "aliases"),
    "deep lists": ("a: " + "[" * 100_000 + "]" * 100_000, "nested too deeply"),
    "deep mappings": ("a: " + "{a: " * 50_000 + "1" + "}" * 50_000, "nested too deeply"),
    "open brackets": ("[" * 900_000, "nested too deeply"),
    "deep indents": ("\n".join(" " * n + "a:" for n in range(1200)), "nested too deeply"),
    "deep dashes": ("- " * 400_000, "nested too deeply"),
    "many values": ("a: [" + "1," * 400_000 + "]", "too many values"),
    "a long number": ("a: 1" + ":1" * 400_000, "too long"),
    "twice": ("name: a\nname: b\n", "written twice"),
    "large": ("a: " + "b" * 2_000_000, "at most 1,000,000 bytes"),
    "code": ("a: !!python/object/apply:os.system ['true']", "could not determine a constructor"),
}


def as_study(folder: Path, file: Path) -> Sequence[str | Path]:
    return "run", file, "--dry-run"


def as_rules(folder: Path, file: Path) -> Sequence[str | Path]:
    (folder / "note.txt").write_text("Seen by Dr. Berg.", encoding="utf-8")
    return "detect", folder / "note.txt", "-o", folder / "found.jsonl", "--with", f"config={file}"


def as_plan(folder: Path, file: Path) -> Sequence[str | Path]:
    words = ("corpus", "generate", "--kind", "cohort", "--count", "100", "--seed", "1")
    return (*words, "--plan", file, "-o", folder / "cohort.csv")


def as_sites(folder: Path, file: Path) -> Sequence[str | Path]:
    notes = folder / "notes"
    notes.mkdir()
    (notes / "a.txt").write_text("Seen on the ward.", encoding="utf-8")
    return "corpus", "inject", "--source", notes, "--seed", "1", "--sites", file, "-o", folder / "injected"


def as_mapping(folder: Path, file: Path) -> Sequence[str | Path]:
    gold, pred = folder / "gold.jsonl", folder / "pred.jsonl"
    gold.write_text('{"id": "a", "text": "Ann", "spans": [{"start": 0, "end": 3, "label": "NAME"}]}\n')
    pred.write_text('{"id": "a", "spans": []}\n')
    return "score", "spans", "--gold", gold, "--pred", pred, "--labels", file


WAYS_IN = {"study": as_study, "rules": as_rules, "plan": as_plan, "sites": as_sites, "mapping": as_mapping}
Words = Callable[[Path, Path], Sequence[str | Path]]


@pytest.mark.parametrize("what", YAMLS)
def test_yaml_without_end(tmp_path: Path, what: str) -> None:
    """One process for every way in would take minutes, so each text goes in by the way that its turn is."""
    text, said = YAMLS[what]
    names = list(WAYS_IN)
    place = list(YAMLS).index(what)
    chosen = names if what in ("billion laughs", "deep lists") else [names[place % 5], names[(place + 2) % 5]]
    for name in chosen:
        folder = tmp_path / name
        folder.mkdir()
        file = folder / "hostile.yaml"
        file.write_text(text, encoding="utf-8")
        assert said in refused(bounded(*WAYS_IN[name](folder, file))), name


@pytest.mark.parametrize("name", WAYS_IN)
def test_a_pipe_is_not_waited_for(tmp_path: Path, name: str) -> None:
    file = tmp_path / "hostile.yaml"
    os.mkfifo(file)
    refused(bounded(*WAYS_IN[name](tmp_path, file)))


# ---- JSON ------------------------------------------------------------------------------------------------------------

DEEP = "[" * 200_000 + "]" * 200_000
OBJECTS = '{"a":' * 100_000 + "1" + "}" * 100_000


def report(folder: Path, text: str) -> Sequence[str | Path]:
    (folder / "report.json").write_text(text, encoding="utf-8")
    return "report", folder / "report.json", "-o", folder / "drawn"


def gate(folder: Path, text: str) -> Sequence[str | Path]:
    (folder / "report.json").write_text(text, encoding="utf-8")
    return "gate", folder / "report.json", "--rule", "auroc.low >= 0.5"


def pack(folder: Path, text: str) -> Sequence[str | Path]:
    (folder / "pack.json").write_text(text, encoding="utf-8")
    return "pool", folder / "pack.json"


def golds(folder: Path, text: str) -> Sequence[str | Path]:
    (folder / "gold.jsonl").write_text(text + "\n", encoding="utf-8")
    (folder / "pred.jsonl").write_text('{"id": "a", "spans": []}\n', encoding="utf-8")
    return "score", "spans", "--gold", folder / "gold.jsonl", "--pred", folder / "pred.jsonl"


def found(folder: Path, text: str) -> Sequence[str | Path]:
    (folder / "gold.jsonl").write_text('{"id": "a", "text": "Ann", "spans": []}\n', encoding="utf-8")
    (folder / "pred.jsonl").write_text(text + "\n", encoding="utf-8")
    return "score", "spans", "--gold", folder / "gold.jsonl", "--pred", folder / "pred.jsonl"


def cases(folder: Path, text: str) -> Sequence[str | Path]:
    (folder / "cases.jsonl").write_text(text + "\n", encoding="utf-8")
    (folder / "replies.jsonl").write_text(text + "\n", encoding="utf-8")
    return "score", "conversation", folder / "cases.jsonl", "--transcripts", folder / "replies.jsonl"


def setting(folder: Path, text: str) -> Sequence[str | Path]:
    (folder / "note.txt").write_text("Seen by Dr. Berg.", encoding="utf-8")
    return "detect", folder / "note.txt", "-o", folder / "found.jsonl", "--with", f"config={text[:100_000]}"


def restored(folder: Path, text: str) -> Sequence[str | Path]:
    for name in ("map.json", "redacted.txt"):
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "key").write_bytes(b"0123456789abcdef" * 2)
    os.chmod(folder / "key", 0o600)
    words = ("--map", folder / "map.json", "--key-file", folder / "key", "-o", folder / "out.txt")
    return "restore", folder / "redacted.txt", *words


def split(folder: Path, text: str) -> Sequence[str | Path]:
    shell.write(folder / "cohort.csv", shell.cohort())
    (folder / "split.json").write_text(text, encoding="utf-8")
    return "run", risk_study(folder, split="split.json"), "--dry-run"


def risk_study(folder: Path, **more: object) -> Path:
    content = {
        "name": "nested",
        "task": "risk",
        "corpus": {"path": "cohort.csv"},
        "columns": {"outcome": "died", "risk": "p"},
        "lenses": {"internal": {}},
        **more,
    }
    (folder / "study.yaml").write_text(json.dumps(content), encoding="utf-8")
    return folder / "study.yaml"


READERS = (report, gate, pack, golds, found, cases, setting, restored, split)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_json_nested_without_end(tmp_path: Path, reader: Callable[[Path, str], Sequence[str | Path]]) -> None:
    for name, text in (("lists", DEEP), ("objects", OBJECTS)):
        folder = tmp_path / name
        folder.mkdir()
        refused(bounded(*reader(folder, text)))


def test_plans_of_a_conversation_nested_without_end(tmp_path: Path) -> None:
    done = shell.call("new", "conversation", tmp_path / "talk")
    assert done.code == 0, done.err
    folder = tmp_path / "talk"
    (folder / "plans.json").write_text(DEEP, encoding="utf-8")
    text = (folder / "study.yaml").read_text(encoding="utf-8")
    changed = text.replace("\nconversation:\n", "\nconversation:\n  target_plans: plans.json\n")
    assert changed != text
    (folder / "study.yaml").write_text(changed, encoding="utf-8")
    assert "target_plans" in refused(bounded("run", folder / "study.yaml", "-o", tmp_path / "run"))
