"""The golden set: one table of commands with fixed seeds and tiny inputs, and a hash of everything that each of them
writes, says and answers. It guards moves, renames and merges, and knows nothing of what the right answers are.

    python scripts/golden.py                   # compare with the kept hashes; exit 1 names every output that differs
    python scripts/golden.py --small           # a subset that takes less than a minute
    python scripts/golden.py --write           # keep what the commands give now, after a change that was meant
    python scripts/golden.py --keep /tmp/a     # also keep the outputs as they were hashed: diff -r /tmp/a /tmp/b

The commands run from the source tree that this file stands in, with the entry points of its pyproject.toml, whatever is
installed. What depends on the machine is put aside before hashing: versions of libraries, the hashes and signatures of
records, which cover those versions and every last digit, paths of the temporary folder, times, process ids, and the
lines that tell of progress when a machine is slow. Encrypted maps and keys are random; that they were written is all
that is kept of them. Where a plug-in lives is left out of the list of plug-ins, since moving it is what this guards.

Numbers in JSON are rounded to nine significant digits, because sums and products of floats depend on the processor that
the linear algebra library finds; the band of a smoothed calibration curve, where solving loses digits, to four. Text,
pages and tables are hashed as they are: they show few digits, so another processor changes them only where a digit is
on the edge, but another version of the library that draws charts may.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "tests" / "golden" / "golden.json"
LIBRARIES = ("numpy", "scipy", "pydantic", "typer", "vl-convert-python")  # whose version may change an output
DIGITS = 9
COARSE = {"spline": 4}  # digits under these names, where another processor was seen to move the eighth
CHARTS, CIPHER = "vl_convert", "cryptography"

# ---- what the commands are given -------------------------------------------------------------------------------------

_RISK = """
task: risk
seed: 7
corpus: {path: cohort.csv}
thresholds: [0.2]
bootstrap: {replicates: 200}
gates: [auroc.low >= 0.70, calibration_slope.low >= 0.60, "sensitivity{sex=*}.low >= 0.30"]
"""
_COLUMNS = "outcome: outcome, patient: patient, site: site, time: time"
_SPANS = """
task: spans
seed: 7
corpus: {path: notes.jsonl}
policies: [hipaa_plus_providers]
bootstrap: {replicates: 200}
"""
_TEXT = (
    "The patient was seen in clinic by the nurse. She lives with her husband. PLAN: Follow up in two weeks with us.\n"
)

GIVEN = {
    "cohort.plan.yaml": """
prevalence: 0.2
auroc: 0.78
slope: 0.9
rows_per_patient: 2
icc: 0.2
sites: 3
months: 8
groups: {sex: {F: 0.52, M: 0.48}, language: {local: 0.7, other: 0.3}}
gaps: {language: {other: {auroc: -0.08}}}
missing_groups: 0.02
""",
    "five.yaml": f"""name: five lenses
{_RISK}
columns: {{{_COLUMNS}, risk: risk, groups: [sex, language]}}
lenses:
  internal: {{}}
  subgroups: {{margin: 0.05}}
  power: {{difference: {{auroc: 0.05, sensitivity: 0.10}}}}
  drift: {{window: month, label_delay: 30}}
  sites: {{limit: {{auroc: 0.70, oe_ratio: 0.25}}}}
report: {{formats: [md, text, json, json-flat], as_of: 2024-05-01}}
""",
    "two.yaml": f"""name: two models
{_RISK}
columns: {{{_COLUMNS}, groups: [sex]}}
systems:
  - {{name: first, use: recorded, with: {{column: risk}}}}
  - {{name: second, use: recorded, with: {{column: risk * 0.8}}}}
lenses: {{internal: {{}}, subgroups: {{margin: 0.05}}}}
report: {{formats: [md, text]}}
""",
    "spans.yaml": f"""name: two detectors
{_SPANS}
systems:
  - {{name: native, use: native}}
  - {{name: found before, use: recorded, with: {{path: found.jsonl}}}}
lenses: {{internal: {{}}, subgroups: {{by: [sex, origin], margin: 0.05}}}}
gates: [recall.low >= 0.5, over_redaction.high <= 0.05]
report: {{formats: [md, text, json-flat]}}
""",
    "recorded.yaml": f"""name: recorded spans
{_SPANS}
systems: [{{name: found before, use: recorded, with: {{path: found.jsonl}}}}]
modes: [strict, full_mask]
lenses: {{internal: {{}}}}
gates: [recall.low >= 0.5]
report: {{formats: [md, text]}}
""",
    "workers.yaml": f"""name: several processes
{_SPANS}
systems: [{{name: native, use: native, with: {{batch: 8}}}}]
modes: [full_mask]
levels: [phi]
lenses: {{internal: {{}}}}
report: {{formats: [text]}}
""",
    "talk.yaml": """name: two chat models
task: conversation
seed: 7
corpus: {path: cases.jsonl}
systems:
  - {name: forgetful, use: scripted, with: {behaviour: forgetful, cases: cases.jsonl, noise: true}}
  - {name: careful, use: scripted, with: {behaviour: perfect, cases: cases.jsonl, recall: 0.97}}
conversation: {arms: [live, oracle, naive], probe: summary, memory: full}
lenses: {internal: {}, subgroups: {by: [sex]}}
bootstrap: {replicates: 200}
gates: [recall_at_10.low >= 0.5, never_events.value <= 0]
report: {formats: [md, text, json-flat, safety-card]}
""",
    "short_talk.yaml": """name: one chat model
task: conversation
seed: 7
corpus: {path: cases.jsonl, sample: 3}
systems: [{name: forgetful, use: scripted, with: {behaviour: forgetful, cases: cases.jsonl}}]
conversation: {arms: [live], probe: summary}
lenses: {internal: {}}
bootstrap: {replicates: 200}
report: {formats: [text]}
""",
    "misspelt.yaml": "name: misspelt\ntask: risk\ncorpus: {path: cohort.csv}\nlenses: {internl: {}}\ncolums: {}\n",
    "facts.csv": "site,region,volume\nNorth,upper,900\nSouth,lower,400\nEast,lower,300\nWest,upper,10\n",
    "site.key": "0123456789abcdef0123456789abcdef\n",
    "readmission.yaml": (ROOT / "examples" / "readmission" / "study.yaml").read_text(encoding="utf-8"),
    **{f"texts/note {i}.txt": f"{_TEXT * i}Seen on 03/04/2021 by Dr. Olsen, phone 555-0142.\n" for i in (1, 2, 3)},
}


def answered(folder: Path) -> None:
    """What a reviewer would export from Label Studio: every fourth region is taken for no identifier."""
    tasks = json.loads((folder / "queue/for_reviewers/label_studio.json").read_text(encoding="utf-8"))
    count = 0
    for number, task in enumerate(tasks, start=1):
        regions = task.pop("predictions")[0]["result"]
        for region in regions:
            count += 1
            region["value"]["labels"] = ["IDENTIFIER" if count % 4 else "NOT_IDENTIFIER"]
        task |= {"id": number, "annotations": [{"id": number, "result": regions, "was_cancelled": False}]}
    (folder / "answers.json").write_text(json.dumps(tasks), encoding="utf-8")


# ---- the commands ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One command. It runs in the folder that the steps above it left; a small one needs small ones alone."""

    name: str
    words: str
    code: int = 0
    small: bool = False
    needs: tuple[str, ...] = ()  # libraries of an extra, without which the step is left out
    random: tuple[str, ...] = ()  # files that differ in every run
    before: Callable[[Path], None] | None = None


def _site(name: str, seed: int, more: str, *, small: bool = False) -> tuple[Step, ...]:
    """A hospital from its table to the pack that it sends."""
    options = "--outcome outcome --risk risk --patient patient --by sex --threshold 0.2 --replicates 200"
    sent = f"-o packs/{name}.json --site {name} --key-file site.key {more}"
    return (
        Step(f"table of {name}", f"corpus generate --kind cohort --count 400 --seed {seed} -o {name}.csv", small=small),
        Step(f"score {name}", f"score risk {name}.csv {options} --json {name}.report.json", small=small),
        Step(f"pack of {name}", f"site-pack {name}.report.json {sent}", small=small),
    )


_POOL = "pool packs/North.json packs/South.json packs/East.json --key-file site.key --sites facts.csv --limit auroc=0.6"
_SPLIT = "split cohort.csv --patient patient --outcome outcome --seed 5"
_PRED = "--gold notes.jsonl --pred"

STEPS = (
    Step("version", "--version", small=True),
    Step("help", "--help"),
    Step("schema of a study", "schema", small=True),
    Step("schema of a report", "schema report"),
    Step("plugins", "plugins --json -", small=True),
    Step("settings of a system", "plugins native"),
    Step("new risk", "new risk started/risk"),
    Step("new spans", "new spans started/spans"),
    Step("new conversation", "new conversation started/conversation"),
    # Corpora.
    Step(
        "cohort",
        "corpus generate --kind cohort --count 600 --seed 1 --plan cohort.plan.yaml -o cohort.csv",
        small=True,
    ),
    Step("notes", "corpus generate --kind notes --count 24 --seed 2 --length short -o notes.jsonl", small=True),
    Step(
        "swapped notes", "corpus generate --kind notes --count 10 --seed 2 --swap both --ambiguity high -o swap.jsonl"
    ),
    Step("cases", "corpus generate --kind conversation --count 6 --seed 3 --turns 10 -o cases.jsonl", small=True),
    Step("inject", "corpus inject --source texts --seed 4 --density high -o injected.jsonl --json -", small=True),
    Step("typing errors", "corpus noise notes.jsonl --kind typo --rate 0.05 --seed 5 -o noisy.jsonl --json -"),
    Step("scanning errors", "corpus noise notes.jsonl --kind ocr --rate 0.02 --seed 5 --on phi -o scanned.jsonl"),
    Step("to brat", "corpus convert notes.jsonl as_brat --to brat --json -", small=True),
    Step("from brat", "corpus convert as_brat again.jsonl --from brat --trim titles"),
    *(
        Step(f"to {form}", f"corpus convert notes.jsonl as_{form}.{ending} --to {form}")
        for form, ending in (("conll", "conll"), ("label-studio", "json"), ("presidio", "json"), ("tab", "json"))
    ),
    Step("to i2b2", "corpus convert notes.jsonl as_i2b2 --to i2b2"),
    Step("describe", "corpus describe notes.jsonl --json described.json --mapping labels.yaml"),
    # Risk.
    Step("dry run", "run five.yaml --dry-run"),
    Step("five lenses", "run five.yaml -o runs/five", code=3, small=True),
    Step("verify", "verify runs/five"),
    Step("page of five lenses", "report runs/five -f html -o five.html", small=True, needs=(CHARTS,)),
    Step("report as text", "report runs/five"),
    Step("gate passed", "gate runs/five --rule 'auroc.low >= 0.5' --json -"),
    Step(
        "gate failed",
        "gate runs/five --rule 'auroc.low >= 0.99' --junit gates.xml --json gates.json",
        code=1,
        small=True,
    ),
    Step("two models", "run two.yaml -o runs/two", code=3),
    Step("compare models", "compare runs/two --margin 0.02 --metric auroc -o compared", code=3, needs=(CHARTS,)),
    Step("compare as json", "compare runs/two/second runs/two/first --json -"),
    Step(
        "readmission example",
        "run readmission.yaml -o runs/readmission",
        code=3,
        needs=(CHARTS,),
    ),
    # Spans.
    Step("detect", "detect notes.jsonl -o found.jsonl --with policy=hipaa_safe_harbor", small=True),
    Step("recorded spans", "run recorded.yaml -o runs/recorded", small=True),
    Step("two detectors", "run spans.yaml -o runs/spans", code=3),
    Step("pages of two detectors", "report runs/spans -f html -o pages", needs=(CHARTS,)),
    Step("verify spans", "verify runs/spans/native"),
    Step("gate on two detectors", "gate runs/spans --json - --junit spans.xml", code=3),
    Step("several processes", "run workers.yaml -o runs/workers --engine processes --workers 2"),
    Step("compare detectors", "compare runs/spans --metric recall --margin 0.05 --json -", code=3),
    Step("score spans", f"score spans {_PRED} found.jsonl --by sex --mode iou:0.5 --replicates 200 --json spans.json"),
    Step("more notes", "corpus generate --kind notes --count 80 --seed 6 --length short -o more.jsonl"),
    Step("detect in more notes", "detect more.jsonl -o in_more.jsonl --sample 75 --seed 1"),
    Step("threshold", "threshold --gold more.jsonl --pred in_more.jsonl --target 0.5 --seed 1 --json threshold.json"),
    Step(
        "review queue",
        f"review queue {_PRED} a=found.jsonl --seed 3 --sample 60 -o queue --with-text",
    ),
    Step("review queue in brat", f"review queue {_PRED} a=found.jsonl --seed 4 -o q2 --with-text --format brat"),
    Step("review score", "review score queue ann=answers.json --json review.json", before=answered),
    # Redaction.
    Step("redact with labels", "redact 'texts/note 2.txt'"),
    Step("redact with masks", "redact notes.jsonl -o masked.jsonl --as mask --policy hipaa_safe_harbor --json -"),
    Step("redact with hashes", "redact texts -o hashed --as hash --key-file site.key --rename --pieces pieces.jsonl"),
    Step(
        "redact with surrogates",
        "redact notes.jsonl -o surrogates.jsonl --as surrogate --key-file site.key --map notes.map --golds",
        small=True,
        needs=(CIPHER,),
        random=("notes.map",),
    ),
    Step(
        "restore",
        "restore surrogates.jsonl --map notes.map --key-file site.key -o restored.jsonl",
        small=True,
        needs=(CIPHER,),
    ),
    # Conversation.
    Step("one chat model", "run short_talk.yaml -o runs/short_talk", small=True),
    Step("two chat models", "run talk.yaml -o runs/talk", code=3),
    Step("page of a chat model", "report runs/talk -f html -o talk --system forgetful", needs=(CHARTS,)),
    Step("safety card", "report runs/talk/forgetful -f safety-card -o card.html", needs=(CHARTS,)),
    Step("verify a chat model", "verify runs/talk/careful"),
    # Sites.
    *_site("North", 11, "--facts type=academic --ledger North.ledger", small=True),
    *_site("South", 12, "--facts type=academic"),
    *_site("East", 13, "--facts type=rural --k 20"),
    Step("key of a site", "site-key -o own.key", needs=(CIPHER,), random=("own.key", "own.pub")),
    Step("pool", f"{_POOL} --json pooled.json --seen seen.json"),
    Step("pool into pages", f"{_POOL} --intended-setting rural --moderator volume -o pooled", needs=(CHARTS,)),
    # Plans and splits.
    Step(
        "plan proportions",
        "plan proportions --p1 0.80 --difference 0.05 --prevalence 0.1 --groups A:0.7 --groups B:0.3 --json -",
        small=True,
    ),
    Step("plan auc", "plan auc --auc1 0.80 --auc2 0.85 --prevalence 0.1 -o plans/auc", needs=(CHARTS,)),
    Step(
        "plan precision",
        "plan precision --prevalence 0.1 --cstatistic 0.8 --threshold 0.1 --sensitivity 0.6 --specificity 0.8",
    ),
    Step("plan develop", "plan develop --prevalence 0.2 --parameters 10 --cox-snell 0.2 --json develop.json"),
    Step("plan leak", "plan leak --bound 0.01 --leak-rate 0.002 --icc 0.1 --golds-per-document 8 --json leak.json"),
    Step("plan decay", "plan decay --slope -0.02 --start 0.95 --turns 10 --facts 8 --slope-sd 0.03 --json decay.json"),
    Step("split by groups", f"{_SPLIT} --strategy multidimensional --by sex --by language -o groups", small=True),
    Step("split by time", f"{_SPLIT} --strategy temporal --time time --embargo 10 --indices -o times"),
    Step("split by site", f"{_SPLIT} --strategy site --site site --hold-out S02 -o sites --json -"),
    # Planted truths, refusals, and what removes.
    Step("selftest risk", "selftest risk"),
    Step("selftest spans", "selftest spans"),
    Step("misspelt study", "run misspelt.yaml -o runs/misspelt", code=2, small=True),
    Step("absent column", "score risk cohort.csv --outcome outcom --risk risk", code=2, small=True),
    Step("unknown option", "gate runs/five --rul x", code=2),
    Step("clean", "clean runs/five"),
)


# ---- running them ----------------------------------------------------------------------------------------------------


def run(steps: Sequence[Step], work: Path, keep: Path | None) -> Iterator[tuple[Step, dict[str, str]]]:
    """Every step with the hash of each of its outputs, by name; `keep` takes the outputs as they were hashed."""
    folder = work / "folder"
    for name, text in GIVEN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "site.key").chmod(0o600)
    (folder / "packs").mkdir()
    environment = _environment(work)
    clean = Cleaner({str(folder.resolve()): "FOLDER", str(ROOT): "TREE"})
    for step in steps:
        if step.before is not None:
            step.before(folder)
        before = _stamps(folder)
        done = subprocess.run(
            [sys.executable, "-m", "workup.cli", *shlex.split(step.words)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        written = [name for name, stamp in _stamps(folder).items() if before.get(name) != stamp]
        contents = {name: (folder / name).read_bytes() for name in written}
        contents |= {"(stdout)": done.stdout, "(stderr)": done.stderr, "(exit code)": str(done.returncode).encode()}
        contents |= dict.fromkeys(step.random, b"random\n")
        outputs = clean.cleaned(contents)
        if keep is not None:
            _keep(keep / step.name, outputs)
        yield step, {name: _digest(outputs[name]) for name in sorted(outputs)}


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _environment(work: Path) -> dict[str, str]:
    """This tree's source and entry points, one thread, and nothing of the terminal or the user's own state."""
    quiet = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "GITHUB_ACTIONS")}
    return {
        **quiet,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(_entry_points(work / "installed"))]),
        "XDG_STATE_HOME": str(work / "state"),
        "OPENBLAS_NUM_THREADS": "1",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }


def _entry_points(place: Path) -> Path:
    """The metadata of this tree as an installer would write it: what is installed may be that of another tree."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = []
    for group, names in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {where}" for name, where in names.items())]
    folder = place / f"{project['name']}-0.dist-info"
    folder.mkdir(parents=True)
    (folder / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0\n", encoding="utf-8")
    return place


def _stamps(folder: Path) -> dict[str, tuple[int, ...]]:
    """Every file with what changes when it is written."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            seen = path.stat()
            found[path.relative_to(folder).as_posix()] = (seen.st_ino, seen.st_size, seen.st_mtime_ns)
    return found


def _keep(folder: Path, outputs: Mapping[str, bytes]) -> None:
    for name, content in outputs.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


# ---- what is put aside -----------------------------------------------------------------------------------------------

_PATTERNS = tuple(
    (re.compile(pattern, re.MULTILINE), new)
    for pattern, new in (
        # "Made with Workup 0.1.0, numpy 2.4.6, python 3.11.7, scipy 1.17.1" on a page, and the same in a log.
        (r"\b(numpy|python|scipy) \d[\w.]*", r"\1 VERSION"),
        (r"'(numpy|python|scipy)': '[^']*'", r"'\1': 'VERSION'"),
        (r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ ", "TIME "),  # a line of run.log
    )
)
_PROGRESS = re.compile(r"^[^\n:]+: [\d,]+ of [\d,]+\n", re.MULTILINE)
_MEASURED = re.compile("second|memory|cores|machine|platform")  # names in timings.json


class Cleaner:
    """Outputs without what the machine decides; it remembers the hashes of records, which later outputs quote."""

    def __init__(self, tokens: Mapping[str, str]) -> None:
        self._tokens = dict(tokens)

    def cleaned(self, contents: Mapping[str, bytes]) -> dict[str, bytes]:
        """The outputs of one step by name, each as it is to be hashed."""
        for content in contents.values():
            for value in _own_hashes(_parsed(content)):
                self._tokens.setdefault(value, "RECORD")
        return {name: self._clean(name, content) for name, content in contents.items()}

    def _clean(self, name: str, content: bytes) -> bytes:
        if name.endswith(".lock"):  # a process id
            return b""
        try:
            text = content.decode()
        except UnicodeDecodeError:
            return content
        for value, token in self._tokens.items():
            text = text.replace(value, token)
        for pattern, new in _PATTERNS:
            text = pattern.sub(new, text)
        if name == "(stderr)":
            return _PROGRESS.sub("", text).encode()
        if name.endswith(".jsonl"):
            lines = [json.loads(line) for line in text.splitlines()]
            return "".join(json.dumps(_rounded(line), ensure_ascii=False) + "\n" for line in lines).encode()
        data = _parsed(text)
        if data is None:
            return text.encode()
        if name.endswith("timings.json"):
            data = _unmeasured(data)
        if name == "(stdout)" and isinstance(data, dict) and {"tasks", "lenses", "systems"} <= set(data):
            data = {noun: list(names) for noun, names in data.items()}  # plug-ins by name, wherever they live
        if isinstance(data, dict):
            data.pop("environment", None)
        return (json.dumps(_rounded(data), indent=1, ensure_ascii=False) + "\n").encode()


def _parsed(content: str | bytes) -> Any:
    """The JSON object or list that a text is, else None."""
    try:
        data = json.loads(content)
    except ValueError:
        return None
    return data if isinstance(data, (dict, list)) else None


def _own_hashes(data: Any) -> Iterator[str]:
    """Hash and signature that a record or a pack carries of itself, and of pooled packs the hash of their corpus."""
    if isinstance(data, dict) and ("environment" in data or "pack_version" in data):
        yield data["sha256"]
        if data.get("signature"):
            yield data["signature"]["value"]
        if str(data.get("corpus", {}).get("name", "")).endswith(" sites"):
            yield data["corpus"]["sha256"]


def _unmeasured(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    return {name: None if _MEASURED.search(name) else _unmeasured(value) for name, value in data.items()}


def _rounded(data: Any, digits: int = DIGITS) -> Any:
    if isinstance(data, float):
        return float(f"{data:.{digits}g}")
    if isinstance(data, dict):
        return {name: _rounded(value, COARSE.get(name, digits)) for name, value in data.items()}
    return [_rounded(value, digits) for value in data] if isinstance(data, list) else data


# ---- kept hashes -----------------------------------------------------------------------------------------------------


def versions() -> dict[str, str]:
    """Versions here of the libraries that may change an output; empty where one is not installed."""
    found = {}
    for library in LIBRARIES:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            found[library] = ""
    return found


def kept() -> dict[str, dict[str, str]]:
    """The kept hashes under "outputs", by "step > output", and under "made with" the versions they were made with."""
    if not KEPT.exists():
        return {"made with": {}, "outputs": {}}
    return dict(json.loads(KEPT.read_text(encoding="utf-8")))


def differences(found: Mapping[str, str], steps: Sequence[Step], held: Mapping[str, str]) -> list[str]:
    """Every output of these steps that is not as it was kept, in the order of the steps."""
    order = {step.name: place for place, step in enumerate(steps)}
    names = [name for name in {*found, *held} if name.partition(" > ")[0] in order]
    told = []
    for name in sorted(names, key=lambda one: (order[one.partition(" > ")[0]], one)):
        if found.get(name) != held.get(name):
            told.append(f"{'new' if name not in held else 'gone' if name not in found else 'differs'}: {name}")
    return told


def able(small: bool) -> tuple[list[Step], list[str]]:
    """Steps that can run here, and why each other cannot."""
    asked = [step for step in STEPS if step.small or not small]
    absent = {step.name: [name for name in step.needs if util.find_spec(name) is None] for step in asked}
    reasons = [f"left out: {name}, since {', '.join(why)} is not installed" for name, why in absent.items() if why]
    return [step for step in asked if not absent[step.name]], reasons


def hashed(
    steps: Sequence[Step], keep: Path | None = None, tell: Callable[[str], object] | None = None
) -> dict[str, str]:
    """The hash of every output of the steps, by "step > output"."""
    work = Path(tempfile.mkdtemp(prefix="golden-"))
    try:
        found: dict[str, str] = {}
        for step, outputs in run(steps, work, keep):
            found |= {f"{step.name} > {name}": digest for name, digest in outputs.items()}
            if tell is not None:
                tell(f"{step.name}: {len(outputs)} outputs")
        return found
    finally:
        shutil.rmtree(work)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--small", action="store_true", help="only the steps that are quick")
    reader.add_argument("--write", action="store_true", help="keep the hashes of now")
    reader.add_argument("--keep", type=Path, default=None, help="new folder for the outputs as they were hashed")
    reader.add_argument("--verbose", action="store_true", help="name each step as it ends")
    asked = reader.parse_args()
    if asked.keep is not None and asked.keep.exists() and any(asked.keep.iterdir()):
        reader.error(f"{asked.keep} must be a new or empty folder")
    steps, left_out = able(asked.small)
    if asked.write and (asked.small or left_out):
        reader.error(
            "the whole set is kept at once, with every extra that it needs" + "".join(f"\n{x}" for x in left_out)
        )
    found = hashed(steps, asked.keep, _say if asked.verbose else None)
    held = kept()
    wrong = [step.name for step in steps if found[f"{step.name} > (exit code)"] != _digest(str(step.code).encode())]
    told = differences(found, steps, held["outputs"])
    for line in (*left_out, *told, *(f"another exit code than the table says: {name}" for name in wrong)):
        _say(line)
    _say(f"{len(steps)} commands, {len(found)} outputs, {len(told)} not as kept")
    if asked.write and not wrong:
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        record = {"made with": versions(), "outputs": found}
        KEPT.write_text(json.dumps(record, indent=0, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
        return 0
    if told and held["made with"] != versions():
        _say(f"kept with {held['made with']}, now {versions()}: that alone may be why")
    if told and asked.keep is None:
        _say("To see what differs: run this with --keep A here and with --keep B on the tree before, then diff -r A B")
    return 1 if told or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
