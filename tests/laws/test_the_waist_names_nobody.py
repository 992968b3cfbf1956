"""What every task and lens shares names none of them: a task, a metric or another lens is known by its properties.

A new task gets every lens, and a new lens serves every task, only while the code between them asks what a metric is
like and not what it is called. Only literals in code count: docstrings and examples of settings may name anything.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import workup
from workup import plugins

SOURCE = Path(workup.__file__).parent
WAIST = (
    *("study.py", "gates.py", "report.py", "estimate.py", "metric.py", "validate.py", "preflight.py", "compare.py"),
    *("ranking.py", "evidence.py", "disclosure", "lenses", "packs", "reports"),
)
# Parts of reports that are one task's or one lens's own.
OWN = tuple(
    f"reports/{name}/" for name in ("risk", "horizon", "episodes", "spans", "conversation", "drift", "power", "sites")
)
# What a file may name, and why.
MAY_NAME = {
    # A plan is made for one kind of figure, before there are data, and says which.
    "lenses/power/plans/": {"precision", "auroc", "calibration_slope", "net_benefit", "sensitivity", "specificity"},
    # The key of a standard deviation between patients, and no metric of a task.
    "lenses/power/lens.py": {"spread"},
    # The chart adds up observed less expected events and says so, whichever metrics a study has.
    "lenses/drift/risk_adjusted_chart.py": {"oe_ratio"},
    # What a lens may tell is decided before it runs, from its settings.
    "lenses/withholding.py": {"internal", "subgroups", "power", "drift", "sites"},
    "lenses/few_missing.py": {"drift", "sites"},
    "lenses/few_between_kinds.py": {"subgroups", "sites"},
    # Which figures count those who are flagged, and between which thresholds and horizons of each lens few may lie.
    "lenses/near_thresholds.py": {*("alert_rate", "horizon"), *("internal", "subgroups", "power", "drift", "sites")},
    # The sites are compared with an internal report.
    "lenses/sites/": {"internal"},
    # A pack is made of these two lenses' results.
    "packs/pack.py": {"internal", "subgroups"},
    "packs/kinds_of_rows.py": {"internal"},
    # Lenses by name, not yet by what they declare: the default of a study, refits, files of the sites, groups compared.
    **{file: {"internal"} for file in ("study.py", "report.py", "validate.py")},
    "preflight.py": {"sites"},
    "compare.py": {"subgroups"},
    # A page has a place for each lens of the house; a lens of others has none yet.
    "reports/page.py": {"drift", "internal", "subgroups"},
    "reports/sections.py": {"drift", "internal", "power", "sites"},
    "reports/smallest.py": {"drift", "internal", "sites"},
    "reports/flat.py": {"sites"},
    # Axes of two metrics of risk, a table of two detectors, one rate in words; "coverage" is the head of a column.
    "reports/charts/forest.py": {"calibration_slope", "oe_ratio", "internal", "subgroups"},
    "reports/comparison.py": {"precision", "recall"},
    "reports/groups.py": {"alert_rate"},
    "reports/html.py": {"coverage"},
}


def files() -> list[str]:
    found = [
        path
        for part in WAIST
        for path in ([SOURCE / part] if part.endswith(".py") else sorted((SOURCE / part).rglob("*.py")))
    ]
    names = [path.relative_to(SOURCE).as_posix() for path in found]
    return [name for name in names if not name.startswith(OWN)]


def literals(tree: ast.AST) -> Iterator[str]:
    """Every text in the code but docstrings and what stands under `examples=`."""
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant):
        return
    if isinstance(tree, ast.keyword) and tree.arg == "examples":
        return
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree.value
    for child in ast.iter_child_nodes(tree):
        yield from literals(child)


def named() -> tuple[set[str], set[str]]:
    """Tasks with all their metrics, and lenses."""
    tasks = {name: plugins.find("tasks", name) for name in plugins.registered("tasks")}
    metrics = {metric for task in tasks.values() for metric in task.cards}
    return {*tasks, *metrics}, set(plugins.registered("lenses"))


@pytest.mark.parametrize("file", files())
def test_the_shared_code_names_no_task_no_metric_and_no_other_lens(file: str) -> None:
    tasks_and_metrics, lenses = named()
    own = {name for name in lenses if file.startswith((f"lenses/{name}/", f"lenses/{name}.py"))}
    allowed = set().union(*(names for place, names in MAY_NAME.items() if file.startswith(place)), own)
    tree = ast.parse((SOURCE / file).read_text(encoding="utf-8"))
    assert sorted({*literals(tree)} & (tasks_and_metrics | lenses) - allowed) == []


def test_nothing_is_allowed_that_nobody_names() -> None:
    """An exception that is no longer needed is taken out of the list."""
    for place, names in MAY_NAME.items():
        paths = [SOURCE / place] if place.endswith(".py") else sorted((SOURCE / place).rglob("*.py"))
        said = {text for path in paths for text in literals(ast.parse(path.read_text(encoding="utf-8")))}
        assert names <= said, place


@pytest.mark.parametrize("code", ["name == 'auroc'", "f(task='risk')", "{'sites': 1}", "x = f'{a} {\"drift\"}'"])
def test_a_name_in_code_is_found(code: str) -> None:
    tasks_and_metrics, lenses = named()
    assert {*literals(ast.parse(code))} & (tasks_and_metrics | lenses)


@pytest.mark.parametrize("code", ['"""The risk task."""', "Field(examples=['auroc'])", "'the risk of all'"])
def test_a_name_in_prose_is_not(code: str) -> None:
    tasks_and_metrics, lenses = named()
    assert not {*literals(ast.parse(code))} & (tasks_and_metrics | lenses)
