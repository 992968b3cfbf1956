"""Whole files of every kind that people put into Workup, and the commands that read them.

Each scenario is accepted as it stands; that is checked before anything in it is made wrong. Knows nothing of damage.
"""

from __future__ import annotations

import gzip
import io
import json
import pickle
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from sims.mutated_damage import SECRET, Way
from workup.corpora.formats.spans.any_format import find_format, read_documents
from workup.corpora.generate.cohort.generator import generate
from workup.packs import make_pack
from workup.report import Report, digest
from workup.study import Study
from workup.validate import validate

TURNS = 3
DRUGS = ("warfarin", "metformin", "lisinopril")
_FEATURES = ("age", "lab")
_SHOWN_TO_NO_ONE = ("patient", "died", "p", "visit", "note", "age", "lab")


ANY = Way()


@dataclass(frozen=True)
class Scenario:
    """A folder of whole files, which of them are made wrong, and the command that reads them."""

    name: str
    folder: Path
    files: tuple[str, ...]
    words: tuple[str, ...]
    way: Way = ANY
    judges: bool = False  # whether exit code 1 or 3 is an answer of this command
    prints_text: bool = True  # whether what it prints is for a terminal, which no character may steer
    warm: bool = False  # whether it also runs in the process that is forked, so that what it reads once is read there


# ---- pieces ----------------------------------------------------------------------------------------------------------


def cohort(rows: int = 24) -> dict[str, list[Any]]:
    """Rows of a few patients at two hospitals; ids and notes hold the secret."""
    rng = np.random.default_rng(3)
    age, lab = np.round(rng.normal(60, 10, rows)), np.round(rng.normal(size=rows), 3)
    risk = 1 / (1 + np.exp(-(age - 60) / 8 - lab))
    return {
        "patient": [f"{SECRET}{row // 2:03d}" for row in range(rows)],
        "note": [f"{SECRET} seen on ward {row % 3}" for row in range(rows)],
        "died": (rng.random(rows) < risk).astype(int).tolist(),
        "p": np.round(risk, 4).tolist(),
        "sex": ["FM"[row % 2] for row in range(rows)],
        "site": [f"S{row % 2}" for row in range(rows)],
        "visit": [str(np.datetime64("2024-01-01") + 9 * row) for row in range(rows)],
        "age": age.tolist(),
        "lab": lab.tolist(),
    }


def _lines(columns: Mapping[str, list[Any]], mark: str = ",") -> str:
    rows = zip(*columns.values(), strict=True)
    return "\n".join([mark.join(columns), *(mark.join(map(str, row)) for row in rows)]) + "\n"


def _write(folder: Path, files: Mapping[str, Any]) -> Path:
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        elif path.suffix == ".yaml":
            path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        elif path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(one) + "\n" for one in content), encoding="utf-8")
        else:
            path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return folder


def _seal(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "sha256": digest({name: part for name, part in record.items() if name != "signature"})}


def notes() -> list[dict[str, Any]]:
    """Two notes with golds."""
    text = f"Seen by Dr. Rose Miller on May 3, 2024. {SECRET} lives in Springfield."
    spans = [(12, 23, "DOCTOR"), (27, 38, "DATE"), (58, 69, "CITY")]
    golds = [{"start": start, "end": end, "label": label} for start, end, label in spans]
    return [
        {"id": "n1", "text": text, "spans": golds, "patient": f"{SECRET}1", "groups": {"sex": "F"}},
        {"id": "n2", "text": text.replace("Rose", "Anna"), "spans": golds[:2], "patient": f"{SECRET}2"},
    ]


def predictions() -> list[dict[str, Any]]:
    """What a detector found in them."""
    return [{"id": one["id"], "spans": [{**span, "score": 0.9} for span in one["spans"][:1]]} for one in notes()]


def cases() -> list[dict[str, Any]]:
    """Two conversations with facts to keep."""
    facts = [{"id": f"f{place}", "type": "medication", "concept": drug} for place, drug in enumerate(DRUGS)]
    facts[0] |= {"aliases": ["coumadin"], "critical": True, "introduced": 1, "weight": 2}
    opening = f"I take {', '.join(DRUGS)}. My street is {SECRET}."
    turns = [{"turn": turn, "message": opening if turn == 1 else f"{SECRET} again."} for turn in range(1, TURNS + 1)]
    return [
        {
            "id": f"c{number}",
            "patient_summary": SECRET,
            "facts": facts,
            "turns": turns,
            "metadata": {"groups": {"sex": "FM"[number]}},
        }
        for number in range(2)
    ]


def transcripts() -> list[dict[str, Any]]:
    """What a model said in them, and one probe."""
    found: list[dict[str, Any]] = []
    for one in cases():
        for arm in ("live", "oracle"):
            for turn in range(1, TURNS + 1):
                said = f"{SECRET}: you take {', '.join(DRUGS[: 4 - turn])}."
                line = {"case": one["id"], "replicate": 1, "turn": turn, "arm": arm, "reply": said}
                found.append({**line, "probe": {"kind": "summary", "reply": said}} if arm == "live" else line)
    return found


# ---- studies and settings --------------------------------------------------------------------------------------------


def risk_study(**changes: Any) -> dict[str, Any]:
    """A study of recorded risks with many of its fields said."""
    return {
        "name": "deaths",
        "task": "risk",
        "seed": 3,
        "corpus": {"path": "cohort.csv", "name": "ward", "version": "1"},
        "columns": {
            "outcome": "died",
            "risk": "p",
            "patient": "patient",
            "site": "site",
            "time": "visit",
            "groups": ["sex", {"column": "age", "cuts": [50, 60], "name": "band", "labels": ["low", "mid", "high"]}],
            "inputs": ["age", "lab"],
        },
        "lenses": {"internal": {}, "subgroups": {"by": ["sex"], "margin": 0.05}},
        "thresholds": [0.3, 0.5],
        "primary": {"threshold": 0.3},
        "bootstrap": {"replicates": 200},
        "gates": ["auroc.low >= 0.6", "sensitivity{sex=F}.value >= 0.1"],
        "report": {"formats": ["text"], "as_of": "2024-06-01"},
        "engine": "serial",
        "workers": 1,
        **changes,
    }


def _lenses() -> dict[str, dict[str, Any]]:
    return {
        "internal": {},
        "subgroups": {
            "by": ["sex"],
            "comparator": "rest",
            "margin": {"auroc": 0.05},
            "adjust": "holm",
            "alpha": 0.05,
            "intersections": [["sex", "band"]],
            "family": {"thresholds": [0.3]},
        },
        "power": {"power": 0.8, "alpha": 0.05, "by": ["sex"], "testing": "all-pairs", "metrics": ["auroc"]},
        "drift": {"window": "month", "label_delay": 0, "minimum": {"rows": 5, "events": 1, "others": 1}, "quiet": 3},
        "sites": {"limit": {"auroc": 0.7, "oe_ratio": [0.8, 1.2]}, "method": "REML", "small": 5},
    }


def _spans_study(**changes: Any) -> dict[str, Any]:
    return {
        "name": "notes",
        "task": "spans",
        "seed": 3,
        "corpus": {"path": "notes.jsonl", "format": "spans-jsonl", "offsets": "codepoint", "annotators": "each"},
        "labels": "labels.yaml",
        "policies": ["policy.yaml", "as_annotated"],
        "modes": ["strict", "iou:0.5", "full_mask"],
        "levels": ["leaf", "phi"],
        "ignore": ["AGE"],
        "equivalent": ["ORG=GEO"],
        "systems": [{"name": "found", "use": "recorded", "with": {"path": "found.jsonl"}, "tags": {"kind": "rules"}}],
        "lenses": {"internal": {}, "subgroups": {"by": ["sex"]}},
        "primary": {"mode": "full_mask", "level": "phi"},
        "bootstrap": {"replicates": 200},
        "gates": ["recall.low >= 0.5"],
        "report": {"formats": ["text"]},
        "workers": 1,
        **changes,
    }


def _spans_files() -> dict[str, Any]:
    mapping = {"describe": "own", "source": "us", "labels": {"DOCTOR": "name_provider", "DATE": "date", "CITY": "city"}}
    policy = {"describe": "own", "source": "us", "extends": "as_annotated", "may": ["ORG"], "unmapped": "must"}
    return {"notes.jsonl": notes(), "found.jsonl": predictions(), "labels.yaml": mapping, "policy.yaml": policy}


def _conversation_study(**changes: Any) -> dict[str, Any]:
    return {
        "name": "talk",
        "task": "conversation",
        "seed": 3,
        "corpus": {"path": "cases.jsonl"},
        "systems": [{"name": "said", "use": "recorded", "with": {"path": "said.jsonl"}}],
        "conversation": {
            "arms": ["live", "oracle"],
            "probe": "summary",
            "memory": "full",
            "replicates": 1,
            "horizon": 3,
            "target_plans": "plans.json",
            "ratings": "ratings.csv",
            "matcher": "context",
            "bar": 0.7,
        },
        "lenses": {"internal": {}},
        "bootstrap": {"replicates": 200},
        "gates": ["recall.low >= 0.5"],
        "report": {"formats": ["text"]},
        "workers": 1,
        **changes,
    }


def _conversation_files() -> dict[str, Any]:
    rows = [f"c{n},r{r},human,{what},{4 - r}" for n in (0, 1) for r in (1, 2) for what in ("accurate", "useful")]
    return {
        "cases.jsonl": cases(),
        "said.jsonl": transcripts(),
        "plans.json": {"c0": "Continue warfarin. Check INR.", "c1": "Stop metformin."},
        "ratings.csv": "\n".join(["case,rater,kind,attribute,rating", *rows]) + "\n",
    }


_PLACES = "site,name,type,region,volume\nS0,North,university,north,900\nS1,South,rural,south,80\n"
_DRY = ("run", "study.yaml", "--dry-run")
_RUN = ("run", "study.yaml", "-o", "out")


def study(root: Path) -> list[Scenario]:
    """Study files, and what stands beside them."""
    table = _lines(cohort())
    baseline = _record(root / "baseline")
    dry = _write(
        root / "risk",
        {
            "study.yaml": risk_study(
                lenses=_lenses(), sites="sites.csv", intended_settings=["rural"], baseline="base.json", cost_ratio=4,
                gates=["auroc.low >= baseline - 0.1", "auroc{site=*}.low >= 0.5"],
            ),
            "cohort.csv": table,
            "sites.csv": _PLACES,
            "base.json": baseline.to_json(),
        },
    )  # fmt: skip
    run = _write(root / "run", {"study.yaml": risk_study(), "cohort.csv": table})
    spans = _write(root / "spans", {"study.yaml": _spans_study(), **_spans_files()})
    talk = _write(root / "talk", {"study.yaml": _conversation_study(), **_conversation_files()})
    made = _write(
        root / "made",
        {
            "study.yaml": risk_study(
                corpus={
                    "generate": {
                        "kind": "cohort",
                        "count": 60,
                        "seed": 1,
                        "plan": {"prevalence": 0.3, "sites": 2, "auroc": 0.8, "groups": {"sex": {"F": 0.5, "M": 0.5}}},
                    }
                },
                columns={"outcome": "outcome", "risk": "risk", "patient": "patient", "groups": ["sex"]},
                gates=[],
            ),
        },
    )
    return [
        Scenario("risk, dry", dry, ("study.yaml",) * 5 + ("sites.csv", "base.json"), _DRY, Way(seal=_seal)),
        Scenario("risk", run, ("study.yaml",), _RUN, judges=True, warm=True),
        Scenario("generated, dry", made, ("study.yaml",), _DRY),
        Scenario("spans, dry", spans, ("study.yaml",) * 2 + ("labels.yaml", "policy.yaml"), _DRY),
        Scenario("spans", spans, ("study.yaml",) * 2 + ("labels.yaml", "policy.yaml"), _RUN, judges=True, warm=True),
        Scenario("conversation, dry", talk, ("study.yaml",), _DRY),
        Scenario("conversation", talk, ("study.yaml",), _RUN, judges=True, warm=True),
    ]


def _systems() -> dict[str, tuple[str, dict[str, Any]]]:
    """Systems by name: the task they serve and all of their settings that matter."""
    web = {"timeout": 5, "retries": 0, "concurrency": 1, "headers": {"X-A": "b"}}
    return {
        "recorded": ("risk", {"column": "p"}),
        "sklearn": ("risk", {"path": "m.pkl", "trust": True, "features": [*_FEATURES], "positive": 1, "batch": 10}),
        "onnx": ("risk", {"path": "m.onnx", "features": [*_FEATURES], "positive": 1, "missing": "refuse"}),
        "mlflow": ("risk", {"path": "m", "trust": True, "features": [*_FEATURES], "missing": "pass"}),
        "command": ("risk", {"run": ["true"], "timeout": 5}),
        "http": ("risk", {"url": "http://127.0.0.1:9/", **web}),
        "native": ("spans", {"layers": ["rules"], "policy": "as_annotated", "threshold": 0.1, "language": "en"}),
        "presidio": ("spans", {"organizations": True, "threshold": 0.2, "entities": ["PERSON"]}),
        "spacy": ("spans", {"model": "en_core_web_sm", "labels": ["PERSON"], "exclude": ["parser"]}),
        "scrubadub": ("spans", {"locale": "en_US", "detectors": ["email"]}),
        "huggingface": ("spans", {"model": "folder", "aggregation": "first", "threshold": 0.1, "device": "cpu"}),
        "google_dlp": ("spans", {"project": "p", "location": "global", "token": "env:T", "info_types": ["DATE"]}),
        "openai_chat": ("conversation", {"base_url": "http://127.0.0.1:9/v1", "model": "m", "max_tokens": 5, **web}),
        "scripted": ("conversation", {"behaviour": "forgetful", "cases": "cases.jsonl", "recall": 0.9, "noise": True}),
    }


def settings(root: Path) -> list[Scenario]:
    """The settings of lenses, which are asked, and those of systems, most of which are only looked at."""
    table = _lines(cohort(48))
    found = []
    for lens, chosen in _lenses().items():
        content = risk_study(lenses={lens: chosen}, gates=[], sites="sites.csv")
        folder = _write(root / f"lens-{lens}", {"study.yaml": content, "cohort.csv": table, "sites.csv": _PLACES})
        found.append(Scenario(f"lens {lens}", folder, ("study.yaml",), _RUN, Way(within=("lenses",)), judges=True))
    files: dict[str, dict[str, Any]] = {
        "risk": {"cohort.csv": table},
        "spans": _spans_files(),
        "conversation": _conversation_files(),
    }
    for use, (task, chosen) in _systems().items():
        named = [{"name": "one", "use": use, "with": chosen}]
        content = {"risk": risk_study, "spans": _spans_study, "conversation": _conversation_study}[task](systems=named)
        if task == "risk":
            content["columns"].pop("risk")
            content["gates"] = []
        folder = _write(root / f"system-{use}", {"study.yaml": content, **files[task]})
        found.append(Scenario(f"system {use}", folder, ("study.yaml",), _DRY, Way(within=("systems",))))
        if use in ("native", "scripted", "recorded"):
            found.append(
                Scenario(
                    f"asked {use}", folder, ("study.yaml",), _RUN, Way(within=("systems",)), judges=True, warm=True
                )
            )
    return found


# ---- tables ----------------------------------------------------------------------------------------------------------

_ASKED = (
    *("--outcome", "died", "--risk", "p", "--patient", "patient", "--by", "sex", "--site", "site", "--time", "visit"),
    *("--threshold", "0.3", "--replicates", "200"),
)


def _workbook(columns: Mapping[str, list[Any]]) -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(list(columns))
    for row in zip(*columns.values(), strict=True):
        sheet.append(list(row))
    kept = io.BytesIO()
    book.save(kept)
    return _without_clock(kept.getvalue())


def _without_clock(archive: bytes) -> bytes:
    """The same archive on every day: openpyxl writes the time of saving into it."""
    kept = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            member = old.read(name)
            if name == "docProps/core.xml":
                member = b"".join(part for part in member.split(b"<dcterms:")[:1]) + b"</cp:coreProperties>"
            new.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), member)
    return kept.getvalue()


def tables(root: Path) -> list[Scenario]:
    """One table in every form that is read."""
    import duckdb
    import pyarrow
    import pyarrow.parquet

    columns = cohort()
    plain = _lines(columns)
    packed = gzip.compress(plain.encode(), mtime=0)
    folder = _write(
        root / "tables",
        {"t.csv": plain, "t.tsv": _lines(columns, "\t"), "t.xlsx": _workbook(columns), "t.csv.gz": packed},
    )
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "t.parquet")
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.execute(f"create table cohort as select * from read_csv('{folder / 't.csv'}')")
    way = Way(secret=_SHOWN_TO_NO_ONE)
    found = [
        Scenario(name, folder, (name,), ("score", "risk", name, *_ASKED), way, warm=name == "t.csv")
        for name in ("t.csv", "t.tsv", "t.csv.gz", "t.xlsx", "t.parquet", "t.duckdb")
    ]
    split = ("split", "t.csv", "--strategy", "outcome", "--outcome", "died", "--patient", "patient", "--by", "sex")
    found.append(Scenario("split", folder, ("t.csv",), (*split, "--share", "0.5", "-o", "out"), way))
    return [found[0], found[0], *found[1:]]  # plain text is what most people bring


# ---- documents with spans --------------------------------------------------------------------------------------------

PLACES = {
    "spans-jsonl": "c.jsonl",
    "brat": "c.zip",
    "i2b2": "c.zip",
    "conll": "c.conll",
    "docbin": "c.spacy",
    "presidio": "c.json",
    "tab": "c.json",
    "label-studio": "c.json",
}


def spans(root: Path) -> list[Scenario]:
    """Every registered format described, converted and scored; and predictions."""
    base = _write(root / "plain", {**_spans_files(), "notes.jsonl.gz": b""})
    (base / "notes.jsonl.gz").write_bytes(gzip.compress((base / "notes.jsonl").read_bytes(), mtime=0))
    asked = ("--labels", "i2b2_2014", "--replicates", "200", "--mode", "strict", "--mode", "full_mask")
    scored = ("score", "spans", "--pred", "found.jsonl", *asked, "--gold")
    secret = Way(secret=True)
    found = [
        Scenario("predictions", base, ("found.jsonl",), (*scored, "notes.jsonl"), secret, warm=True),
        Scenario("golds", base, ("notes.jsonl", "notes.jsonl", "found.jsonl"), (*scored, "notes.jsonl"), secret),
        Scenario("golds, packed", base, ("notes.jsonl.gz",), ("corpus", "describe", "notes.jsonl.gz"), secret),
    ]
    for name, place in PLACES.items():
        folder = _write(root / name, {"found.jsonl": predictions()})
        documents = list(read_documents(base / "notes.jsonl"))
        # A name that every form can hold; what a form has no place for is left out.
        find_format(name).write((replace(one, patient=None, groups={}) for one in documents), folder / place)
        if name in ("brat", "i2b2"):
            find_format(name).write((replace(one, patient=None, groups={}) for one in documents), folder / "c")
            (folder / place).write_bytes(_zipped((folder / place).read_bytes()))
        files: tuple[str, ...] = (place,)
        words = ("corpus", "describe", place, "--format", name)
        found.append(Scenario(f"{name}, described", folder, files, words, secret))
        words = ("corpus", "convert", place, "o.jsonl", "--from", name, "--to", "spans-jsonl")
        found.append(Scenario(f"{name}, converted", folder, files, words, secret))
        words = (*scored, place, "--format", name)
        found.append(Scenario(f"{name}, scored", folder, files, words, secret))
        if (folder / "c").is_dir():
            files = tuple(sorted(str(file.relative_to(folder)) for file in (folder / "c").rglob("*") if file.is_file()))
            found.append(Scenario(f"{name} folder", folder, files, ("corpus", "describe", "c"), secret))
    return found


def _zipped(content: bytes) -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), old.read(name))
    return kept.getvalue()


# ---- conversations ---------------------------------------------------------------------------------------------------

_TALK = (
    "[doctor] any allergies? [patient] i am allergic to penicillin. [doctor] do you take anything? "
    f"[patient] i take metformin and lisinopril. {SECRET}."
)


def conversations(root: Path) -> list[Scenario]:
    """Cases, transcripts, plans and ratings; and recorded dialogues."""
    entities = {"patient_summary": SECRET, "critical_entities": [*DRUGS], "turns": cases()[0]["turns"]}
    rows = f'encounter_id,dialogue,note\nD1,"{_TALK}","Takes metformin. {SECRET}"\nD2,"{_TALK}","Allergic."\n'
    folder = _write(
        root / "talk",
        {
            **_conversation_files(),
            "simple.json": [{"id": f"c{n}", **entities} for n in (0, 1)],
            "aci.csv": rows,
            "mts.csv": rows.replace("encounter_id,dialogue,note", "ID,dialogue,section_text")
            .replace("[doctor]", "Doctor:")
            .replace("[patient]", "Patient:"),
        },
    )
    asked = ("--replicates", "200", "--by", "sex")
    said = ("--transcripts", "said.jsonl", "--replicates", "200")
    beside = ("--target-plans", "plans.json", "--ratings", "ratings.csv")
    secret = Way(secret=True)
    # Without a gate of its own a command judges by the default ones.
    words = ("score", "conversation", "cases.jsonl", *said)
    return [
        Scenario("cases", folder, ("cases.jsonl",), (*words, "--by", "sex"), secret, warm=True, judges=True),
        Scenario("transcripts", folder, ("said.jsonl",), words, secret, judges=True),
        Scenario(
            "simple cases", folder, ("simple.json",), ("score", "conversation", "simple.json", *said), secret,
            judges=True,
        ),
        Scenario("plans and ratings", folder, ("plans.json", "ratings.csv"), (*words, *beside), secret, judges=True),
        Scenario(
            "published", folder, ("cases.jsonl", "said.jsonl"), (*words, "--matcher", "published"), secret, judges=True
        ),
        *(
            Scenario(
                format, folder, (file,), ("score", "conversation", file, "--format", format, *asked[:2]),
                Way(secret=("dialogue", "note", "section_text")), judges=True,
            )
            for format, file in (("aci_bench", "aci.csv"), ("mts_dialog", "mts.csv"))
        ),
    ]  # fmt: skip


# ---- records and packs -----------------------------------------------------------------------------------------------


def _record(folder: Path, **changes: Any) -> Report:
    folder.mkdir(parents=True)
    (folder / "cohort.csv").write_text(_lines(cohort(120)))
    (folder / "sites.csv").write_text(_PLACES)
    return validate(Study.of(risk_study(**{"gates": ["auroc.low >= 0.6"], **changes}), base=folder))


def _short(report: Report, rows: int = 6) -> dict[str, Any]:
    """The record with a few rows of each kind, so that each field is met often."""
    record: dict[str, Any] = json.loads(report.to_json())
    for result in record["results"].values():
        for part in ("estimates", "comparisons", "pooled", "charts_state", "alerts"):
            if part in result:
                result[part] = result[part][:rows]
    return _seal(record)


def _scored(root: Path) -> dict[str, dict[str, Any]]:
    """Records of all three tasks."""
    folder = _write(root / "made", {**_spans_files(), **_conversation_files()})
    risk = _record(root / "risk-made", lenses=_lenses(), sites="sites.csv")
    spans_of = validate(Study.of(_spans_study(), base=folder))
    talk = validate(Study.of(_conversation_study(), base=folder))
    return {"risk": _short(risk), "spans": _short(spans_of), "talk": _short(talk)}


def records(root: Path) -> list[Scenario]:
    """Records redrawn, judged, compared, proved again and cleaned up."""
    made = _scored(root)
    way = Way(seal=_seal)
    found: list[Scenario] = []
    for task, record in made.items():
        folder = _write(root / task, {"r.json": record, "whole.json": record})
        rule = {"risk": "auroc.low >= 0.6", "spans": "recall.low >= 0.5", "talk": "recall.low >= 0.5"}[task]
        for form in ("text", "md", "html", "json-flat"):
            words = ("report", "r.json", "-f", form)
            prints = form in ("text", "md")
            found.append(
                Scenario(f"{task}, {form}", folder, ("r.json",), words, way, prints_text=prints, warm=form == "text")
            )
        words = ("gate", "r.json", "--rule", rule, "--baseline", "whole.json")
        found.append(Scenario(f"{task}, judged", folder, ("r.json", "whole.json"), words, way, judges=True))
        found.append(Scenario(f"{task}, own gates", folder, ("r.json",), ("gate", "r.json"), way, judges=True))
        words = ("compare", "whole.json", "r.json", "--margin", "0.1")
        found.append(Scenario(f"{task}, compared", folder, ("r.json",), words, way, judges=True))
    return found + _run_folders(root)


def _run_folders(root: Path) -> list[Scenario]:
    """Folders that `run` made: the record, what the system answered, and the marks beside them."""
    folder = _write(root / "run", {"study.yaml": _asked_study(), "cohort.csv": _lines(cohort()), "model.py": _MODEL})
    for name in ("old", "new"):
        words = ("run", "study.yaml", "-o", name, "--allow-unsure")
        subprocess.run([sys.executable, "-m", "workup.cli", *words], cwd=folder, check=True, capture_output=True)
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    for clock in folder.rglob("run.log"):
        clock.write_text("2024-01-01T00:00:00Z study deaths\n")
    for timed in folder.rglob("timings.json"):
        kept = json.loads(timed.read_text()) | {"seconds": 1.0, "cpu_seconds": 1.0, "peak_memory_mb": 100.0}
        timed.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    inside = sorted(str(file.relative_to(folder)) for file in (folder / "new").rglob("*") if file.is_file())
    kept_files = tuple(name for name in inside if not name.endswith((".lock", ".gitignore")))
    way = Way(seal=_seal)
    return [
        Scenario("verified", folder, kept_files, ("verify", "new", "--study", "study.yaml"), way, judges=True),
        Scenario("compared runs", folder, kept_files, ("compare", "old", "new"), way, judges=True),
        Scenario("run again", folder, kept_files, ("run", "study.yaml", "-o", "new"), way, judges=True),
        Scenario("cleaned", folder, kept_files, ("clean", "new"), way),
        Scenario("of several", folder, kept_files, ("report", "."), way),
    ]


_MODEL = """
class Age:
    version = "1"

    def __init__(self, *, name):
        self.name = name

    def predict(self, table):
        return [min(1.0, float(age) / 100) for age in table["age"]]
"""


def _asked_study() -> dict[str, Any]:
    content = risk_study(systems=[{"name": "age", "use": "model:Age"}], gates=["auroc.low >= 0.1"])
    content["columns"].pop("risk")
    # Risks that follow age alone make bands of age bands of the risk, of which a report may not tell few people.
    return {**content, "smallest_cell": 1}


def packs(root: Path) -> list[Scenario]:
    """Packs that hospitals send, tables of published validations, and records that packs are made of."""
    key = b"0123456789abcdef0123"
    hospitals = {}
    for seed, name in enumerate(("north", "south", "east"), start=1):
        plan = {"prevalence": 0.35, "groups": {"sex": {"F": 0.5, "M": 0.5}}}
        asked = Study.of(
            {
                "name": "readmission",
                "task": "risk",
                "seed": 5,
                "thresholds": [0.3],
                "columns": {"outcome": "outcome", "risk": "risk", "patient": "patient", "groups": ["sex"]},
                "lenses": {"internal": {}, "subgroups": {}},
                "bootstrap": {"replicates": 200},
            }
        )
        hospitals[name] = validate(asked, table=dict(generate(300, seed=seed, plan=plan).table))
    made = {name: _small_pack(make_pack(one, site=name, facts={"type": "rural"})) for name, one in hospitals.items()}
    signed = {f"s-{name}": make_pack(one, site=name, key=key) for name, one in hospitals.items()}
    published = "site,auroc,auroc_low,auroc_high,n,events\nWest,0.71,0.66,0.76,900,120\nOuter,0.68,0.6,0.75,400,60\n"
    folder = _write(
        root / "packs",
        {
            **{f"{name}.json": pack for name, pack in {**made, **signed}.items()},
            "k.key": key,
            "r.json": _short(hospitals["north"]),
            "published.csv": published,
            "sites.csv": "site,type\nnorth,rural\nsouth,urban\neast,urban\n",
        },
    )
    way = Way(seal=_seal)
    plain, secret = ("north.json", "south.json", "east.json"), ("s-north.json", "s-south.json", "s-east.json")
    return [
        Scenario("pooled", folder, plain, ("pool", *plain, "--limit", "auroc=0.7"), way, warm=True),
        Scenario("pooled, sites", folder, (*plain, "sites.csv"), ("pool", *plain, "--sites", "sites.csv"), way),
        Scenario("signed", folder, (*secret, "k.key"), ("pool", *secret, "--key-file", "k.key"), way),
        Scenario("published", folder, ("published.csv", *plain), ("pool", "published.csv", *plain), way),
        Scenario("drawn", folder, plain, ("pool", *plain, "-o", "out"), way),
        Scenario("packed", folder, ("r.json",), ("site-pack", "r.json", "-o", "p.json", "--site", "North"), way),
    ]


def _small_pack(pack: Mapping[str, Any]) -> dict[str, Any]:
    return _seal({**pack, "estimates": pack["estimates"][:12], "gaps": pack["gaps"][:6]})


# ---- models ----------------------------------------------------------------------------------------------------------


def models(root: Path) -> list[Scenario]:
    """Models in files: as ONNX, pickled, by joblib, and in a folder of MLflow."""
    import joblib
    import pandas
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rows = cohort()
    frame = pandas.DataFrame({name: rows[name] for name in _FEATURES})
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, rows["died"])
    plain = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame.to_numpy(), rows["died"])
    network = to_onnx(plain, initial_types=[("X", FloatTensorType([None, 2]))], options={"zipmap": False})
    network.producer_version = ""
    kept = io.BytesIO()
    joblib.dump(model, kept, compress=3)
    content = {
        "m.onnx": network.SerializeToString(),
        "m.pkl": pickle.dumps(model),
        "m.joblib": kept.getvalue(),
    }
    found = []
    for use, path in (("onnx", "m.onnx"), ("sklearn", "m.pkl"), ("sklearn", "m.joblib"), ("mlflow", "m")):
        chosen: dict[str, Any] = {"path": path} | ({} if use == "onnx" else {"trust": True})
        if use == "onnx":
            chosen |= {"features": [*_FEATURES], "positive": 1}
        asked = risk_study(systems=[{"name": "model", "use": use, "with": chosen}], lenses={"internal": {}}, gates=[])
        asked["columns"].pop("risk")
        files = {path: content[path]} if path in content else {}
        folder = _write(root / path.replace(".", "-"), {"study.yaml": asked, "cohort.csv": _lines(rows), **files})
        damaged: tuple[str, ...] = (path,)
        if use == "mlflow":
            _save_mlflow(model, folder / "m")
            damaged = tuple(str(file.relative_to(folder)) for file in sorted((folder / "m").rglob("*")))
        found.append(Scenario(path, folder, damaged, _RUN))
    return found


def _save_mlflow(model: Any, folder: Path) -> None:
    import logging

    import mlflow.sklearn

    logging.getLogger("mlflow").setLevel(logging.ERROR)
    mlflow.sklearn.save_model(
        model,
        folder,
        pyfunc_predict_fn="predict_proba",
        serialization_format="cloudpickle",
        pip_requirements=["scikit-learn"],
    )
    described = yaml.safe_load((folder / "MLmodel").read_text())
    described |= {"model_uuid": "0" * 32, "utc_time_created": "2024-01-01 00:00:00.000000"}
    (folder / "MLmodel").write_text(yaml.safe_dump(described))


KINDS: Mapping[str, Callable[[Path], list[Scenario]]] = {
    "study": study,
    "settings": settings,
    "tables": tables,
    "spans": spans,
    "cases": conversations,
    "records": records,
    "packs": packs,
    "models": models,
}
