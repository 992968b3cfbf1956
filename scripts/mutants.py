"""Mutation testing: small faults planted in the code, one at a time, to see whether a test notices.

    python scripts/mutants.py --seed 1 --count 200 --jobs 2 --out mutants.json

A seeded sample of mutants is drawn from the statistics, the gates, the lenses and the tasks' checks of input. Each runs
in a copy of the package, first against the tests that import the mutated module, then against those that reach it
through other modules. Test files that fail before any mutation (a package is missing, say) are left out and listed.
A survivor is a fault that no test saw: read it, and either write the test or say why the two programs are the same."""

from __future__ import annotations

import argparse
import ast
import compileall
import json
import os
import py_compile
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Queue

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
# Parts of the code with their share of the sample.
AREAS = {
    "stats": (0.45, ["stats/**/*.py"]),
    "lenses": (0.30, ["lenses/**/*.py"]),
    "gates": (0.08, ["gates.py"]),
    "checks": (
        0.17,
        [
            "tasks/risk/checks.py",
            "tasks/risk/cohort.py",
            "tasks/risk/task.py",
            "documents/document.py",
            "documents/labels.py",
            "documents/mappings.py",
            "documents/policies.py",
            "tasks/spans/counting/counting_rules.py",
            "tasks/conversation/cases/case.py",
            "tasks/conversation/cases/facts.py",
            "tasks/conversation/cases/json_files.py",
        ],
    ),
}
# Whole programs, pages and adapters are slow and say little about a formula.
NOT_USED = frozenset(["browser", "cli", "corpora", "deid", "end_to_end", "engines", "reports", "sims", "systems"])
# Tests that reach every metric or lens by its registered name rather than by an import.
BY_NAME = {
    "workup": ["tests/laws/test_records_are_frozen.py"],
    "workup.tasks.risk": [
        "tests/laws/test_every_risk_is_in_range.py",
        "tests/tasks/risk/test_cohort.py",
        "tests/tasks/risk/test_task.py",
        "tests/laws/test_every_metric.py",
        "tests/laws/test_every_metric_at_the_edge.py",
    ],
    "workup.tasks.spans": ["tests/laws/test_every_span_metric.py"],
    "workup.tasks.conversation": ["tests/laws/test_every_conversation_metric.py"],
    "workup.lenses": ["tests/test_validate.py"],
}
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Div, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
    "floor": "ceil", "ceil": "floor", "argmin": "argmax", "argmax": "argmin", "isnan": "isfinite",
    "cumsum": "cumprod", "nanmin": "nanmax", "nanmax": "nanmin", "sf": "cdf", "cdf": "sf",
}  # fmt: skip
KILLED, SURVIVED, NOT_RUN = "killed", "survived", "not run"


@dataclass(frozen=True)
class Mutant:
    """One planted fault: the characters of a file that are replaced, and by what."""

    area: str
    file: str
    line: int
    start: int
    end: int
    was: str
    now: str


class _Finder(ast.NodeVisitor):
    """Every place of one file that can be mutated."""

    def __init__(self, area: str, file: str, text: str) -> None:
        self.area, self.file, self.text, self.found = area, file, text, list[Mutant]()
        self.lines = [0]
        for line in text.encode().splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def put(self, node: ast.AST, now: ast.AST | str) -> None:
        start, end = (
            self.lines[node.lineno - 1] + node.col_offset,
            self.lines[node.end_lineno - 1] + node.end_col_offset,
        )
        was = self.text.encode()[start:end].decode()
        text = now if isinstance(now, str) else f"({ast.unparse(now)})"
        if text.strip("()") != was.strip("()"):
            self.found.append(Mutant(self.area, self.file, node.lineno, start, end, was, text))

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, op in enumerate(node.ops):
            ops = [*node.ops]
            ops[place] = COMPARISONS[type(op)]()
            self.put(node, ast.Compare(node.left, ops, node.comparators))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        textual = any(isinstance(side, (ast.JoinedStr, ast.List, ast.Tuple)) for side in (node.left, node.right))
        if type(node.op) in OPERATORS and not textual and not _is_text(node.left) and not _is_text(node.right):
            self.put(node, ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.put(node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.put(node, node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.put(node, str(not node.value))
        elif isinstance(node.value, int):
            self.put(node, str(node.value + 1))
        elif isinstance(node.value, float):
            self.put(node, repr(node.value * 1.1 if node.value else 0.1))

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in NAMES:
            start = self.text.encode()[: self.lines[node.func.end_lineno - 1] + node.func.end_col_offset]
            end = len(start)
            self.found.append(
                Mutant(self.area, self.file, node.lineno, end - len(name.encode()), end, name, NAMES[name])
            )
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self.put(node, "return None")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self.put(node.test, "False")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.put(node, "pass")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.put(node, "pass")
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.put(node, "pass")  # and nothing inside: wording is not what is tested here

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Text for people."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arguments(self, node: ast.arguments) -> None:
        for default in (*node.defaults, *node.kw_defaults):
            if default is not None:
                self.visit(default)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name not in ("__repr__", "__str__"):
            self.visit(node.args)
            for statement in node.body:
                self.visit(statement)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def candidates(area: str, patterns: Sequence[str]) -> list[Mutant]:
    found = []
    for path in sorted({path for pattern in patterns for path in (SOURCE / "workup").glob(pattern)}):
        text = path.read_text(encoding="utf-8")
        finder = _Finder(area, str(path.relative_to(SOURCE)), text)
        finder.visit(ast.parse(text))
        found += finder.found
    return found


def sample(seed: int, count: int) -> list[Mutant]:
    """The same mutants for the same seed and code, in an order that makes any first part a sample too."""
    draw, chosen = random.Random(seed), list[Mutant]()
    for area, (share, patterns) in AREAS.items():
        known = candidates(area, patterns)
        chosen += draw.sample(known, min(len(known), round(share * count)))
    draw.shuffle(chosen)
    return chosen


# ---- which tests reach which module --------------------------------------------------------------------------------


def imports(path: Path) -> set[str]:
    """Modules of the package that a file imports, by itself or through modules that tests share."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    shared = (ROOT / f"{name.replace('.', '/')}.py" for name in found if name.startswith("tests.support."))
    found |= {name for file in shared if file.exists() for name in imports(file)}
    return {name for name in found if name == "workup" or name.startswith("workup.")}


def test_distances() -> dict[str, dict[str, int]]:
    """For every module, the test files that reach it: 1 for an import of it, 2 for an import of an importer, …"""
    modules = {str(path.relative_to(SOURCE).with_suffix("")).replace("/", "."): path for path in SOURCE.rglob("*.py")}
    modules = {re.sub(r"\.__init__$", "", name): path for name, path in modules.items()}
    importers = defaultdict(set)
    for name, path in modules.items():
        for imported in imports(path) & modules.keys():
            if not name.startswith("workup.cli"):  # which imports everything
                importers[imported].add(name)
    files = [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if NOT_USED.isdisjoint(path.parts)]
    tests = {path: imports(path) & modules.keys() for path in files}
    reach: dict[str, dict[str, int]] = {}
    for module in modules:
        levels, edge, depth = {module: 1}, {module}, 1
        while edge and depth < 3:
            depth += 1
            edge = {one for name in edge for one in importers[name] if one not in levels}
            levels |= dict.fromkeys(edge, depth)
        near = {
            str(path.relative_to(ROOT)): min((levels[name] for name in known if name in levels), default=9)
            for path, known in tests.items()
        }
        for prefix, more in BY_NAME.items():
            if module.startswith(prefix):
                near |= dict.fromkeys(more, 1)
        stem = module.rpartition(".")[2]
        near = {path: 0 if Path(path).stem == f"test_{stem}" else level for path, level in near.items() if level < 9}
        reach[module] = near
    return reach


# ---- running -------------------------------------------------------------------------------------------------------


class Bench:
    """A copy of the package of one worker, in which one file at a time is changed."""

    def __init__(self, place: Path) -> None:
        self.place = place
        shutil.copytree(SOURCE, place / "src", ignore=shutil.ignore_patterns("__pycache__"))
        # Compiled once; what a hash of the source decides is right for a mutated file too, unlike its time and size.
        mode = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(place / "src", quiet=2, invalidation_mode=mode)
        about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        info = place / "src" / f"workup-{about['version']}.dist-info"  # plug-ins are found by entry points
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: workup\nVersion: {about['version']}\n")
        groups = {"console_scripts": about["scripts"], **about["entry-points"]}
        with (info / "entry_points.txt").open("w") as file:
            for name, some in groups.items():
                file.write(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in some.items()))

    def pytest(self, targets: Sequence[str], *, limit: float) -> tuple[str, str]:
        """passed, failed or late; and the last lines."""
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(self.place / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(self.place),
            **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=line"]
        process = subprocess.Popen(
            [*command, "--pyargs", *targets],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said = process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "late", ""
        # 5: nothing to run (every test of the file is skipped, or a module without examples)
        return ("passed" if process.returncode in (0, 5) else "failed"), "\n".join(said.strip().splitlines()[-3:])


def judge(
    bench: Bench,
    mutant: Mutant,
    near: dict[str, int],
    *,
    times: dict[str, float],
    reach_seconds: float,
    deadline: float,
) -> dict:
    """Whether any test notices the mutant: those nearby first, then further ones as far as the seconds go."""
    path = bench.place / "src" / mutant.file
    whole = path.read_bytes()
    module = mutant.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    begun, ran = time.monotonic(), list[str]()
    known = sorted((level, times[test], test) for test, level in near.items() if test in times)
    direct = [(took, test) for level, took, test in known if level < 2]
    further, spent = [], 0.0
    for level, took, test in known:
        if level > 1 and spent + took <= reach_seconds:
            further.append((took, test))
            spent += took
    path.write_bytes(whole[: mutant.start] + mutant.now.encode() + whole[mutant.end :])
    try:
        compile(path.read_bytes(), mutant.file, "exec")
        for some in ([(1.0, module), *direct], further):
            if not some:
                continue
            ran += [test for _, test in some]
            limit, left = 60 + 4 * sum(took for took, _ in some), deadline - time.monotonic()
            end, said = bench.pytest([test for _, test in some], limit=max(min(limit, left), 0.1))
            if end == "late" and left < limit:
                return {"outcome": NOT_RUN, "how": "no time left"}
            if end != "passed":
                return {"outcome": KILLED, "how": end, "said": said, "seconds": time.monotonic() - begun}
        return {"outcome": SURVIVED, "ran": ran, "seconds": time.monotonic() - begun}
    except SyntaxError as error:
        return {"outcome": NOT_RUN, "how": f"no valid program: {error.msg}"}
    finally:
        path.write_bytes(whole)


def baseline(
    benches: Queue[Bench], tests: Sequence[str], jobs: int, longest: float
) -> tuple[dict[str, float], list[str]]:
    """Seconds of each test file on the code as it is; and those left out, since they fail, or take too long."""

    def one(test: str) -> tuple[str, float, str]:
        bench = benches.get()
        begun = time.monotonic()
        try:
            end, _ = bench.pytest([test], limit=longest)
            return test, time.monotonic() - begun, end
        finally:
            benches.put(bench)

    with ThreadPoolExecutor(jobs) as pool:
        ended = list(pool.map(one, tests))
    return {test: took for test, took, end in ended if end == "passed"}, [t for t, _, end in ended if end != "passed"]


def _times(
    asked: argparse.Namespace, benches: Queue[Bench], tests: Sequence[str]
) -> tuple[dict[str, float], list[str]]:
    """The baseline, or what an earlier run recorded of it."""
    known = json.loads(asked.times.read_text()) if asked.times and asked.times.exists() else {}
    missing = [test for test in tests if test not in known]
    times, left_out = baseline(benches, missing, asked.jobs, asked.longest)
    known |= times | dict.fromkeys(left_out, None)
    if asked.times:
        asked.times.write_text(json.dumps(known, indent=1) + "\n")
    passed = {test: took for test, took in known.items() if took is not None}
    return passed, [test for test in tests if test not in passed]


def arguments() -> argparse.Namespace:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--seed", type=int, default=20261115)
    reader.add_argument("--count", type=int, default=200)
    reader.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    reader.add_argument("--out", type=Path, default=Path("mutants.json"))
    reader.add_argument("--time-limit", type=float, default=float("inf"), help="seconds after which it ends")
    reader.add_argument("--reach-seconds", type=float, default=60, help="seconds of further tests for each mutant")
    reader.add_argument("--longest", type=float, default=60, help="test files that take longer are left out")
    reader.add_argument("--times", type=Path, help="file to keep the seconds of the test files in, for another run")
    reader.add_argument("--only", default="", help="only mutants of files whose path holds this")
    reader.add_argument("--list", action="store_true", help="print the sample and run nothing")
    return reader.parse_args()


def written(out: Path, asked: argparse.Namespace, results: Sequence[dict], left_out: Sequence[str]) -> dict[str, int]:
    counts = {one: sum(result["outcome"] == one for result in results) for one in (KILLED, SURVIVED, NOT_RUN)}
    record = {"seed": asked.seed, "count": asked.count, **counts, "tests_left_out": left_out, "mutants": results}
    out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return counts


def run(asked: argparse.Namespace, chosen: Sequence[Mutant]) -> Iterator[str]:
    begun, near = time.monotonic(), test_distances()
    module_of = {m: m.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for m in chosen}
    tests = sorted({test for mutant in chosen for test in near[module_of[mutant]]})
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        benches: Queue[Bench] = Queue()
        for number in range(asked.jobs):
            benches.put(Bench(Path(place) / str(number)))
        times, left_out = _times(asked, benches, tests)
        yield f"{len(times)} test files pass on the code as it is, {len(left_out)} are left out"
        results: list[dict] = [{**asdict(mutant), "outcome": NOT_RUN, "how": "no time left"} for mutant in chosen]

        def one(place: int) -> str:
            mutant = chosen[place]
            if time.monotonic() - begun > asked.time_limit:
                return ""
            bench = benches.get()
            try:
                found = judge(
                    bench,
                    mutant,
                    near[module_of[mutant]],
                    times=times,
                    reach_seconds=asked.reach_seconds,
                    deadline=begun + asked.time_limit,
                )
            finally:
                benches.put(bench)
            results[place] = {**asdict(mutant), **found}
            return f"{found['outcome']:9} {mutant.file}:{mutant.line}  {mutant.was[:60]!r} -> {mutant.now[:60]!r}"

        with ThreadPoolExecutor(asked.jobs) as pool:
            for number, said in enumerate(pool.map(one, range(len(chosen)))):
                if said:
                    yield said
                if number % 10 == 9:
                    written(asked.out, asked, results, left_out)
        yield str(written(asked.out, asked, results, left_out))


def main() -> int:
    asked = arguments()
    chosen = [mutant for mutant in sample(asked.seed, asked.count) if asked.only in mutant.file]
    lines = (f"{m.file}:{m.line}  {m.was!r} -> {m.now!r}" for m in chosen) if asked.list else run(asked, chosen)
    for line in lines:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
