"""Every rule by worked cases: what it finds, as what, and what it leaves; a rule without a case is refused."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from workup.corpora.generate.notes import generate
from workup.deid import Deidentifier, settings
from workup.deid.dates import ages
from workup.deid.dates.patterns import RULES
from workup.deid.places.streets import Streets

DEID = Path(settings.__file__).parent
CASES: dict[str, dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("rule_cases.yaml").read_text(encoding="utf-8")
)
# What cues say of a name, then what is seen of it first. A single word is `single`, whatever else is seen.
NAMES = "title label cue kin_before met preposition naming bed vocative credential initial single pair comma lower "
NAMES += "capitals verb kin header words"
# Rules that are put together in the code, by how their ids are written there.
TOGETHER = {
    "name.{}": [f"name.{why}" for why in NAMES.split()],
    "city.{}": ["city.label", "city.strong"],
    "label.{}": [],  # by the labels of the rules
    "{}.named": ["facility.named", "employer.named", "org_other.named"],
    "{}.cue": ["facility.cue", "employer.cue"],
    "{}.below": ["country.below"],  # a state by its name is found as one besides
    "spacy.{}": [],  # needs a pipeline
}
# Rules that the code takes from a table or a name: those of tables are listed from the tables themselves.
FROM_NAMES = {
    "dates/ages.py": [],
    "fusion/fusion.py": [],  # what the tagger finds has no rule; tests/deid/fusion
    "dates/finder.py": [],
    "identifiers/pattern_rules.py": [],
    "places/streets.py": [],
    "places/addresses.py": ["street.below", "zip.below"],
    "listed.py": ["country.listed", "nationality"],
}


def written_in_the_code() -> Iterator[str]:
    for path in sorted(DEID.rglob("*.py")):
        if path.parent.name == "known_values":
            continue  # no rule: what a register knows; tests/deid/known_values
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding"):
                continue
            rule, where = node.args[-2], path.relative_to(DEID).as_posix()
            if isinstance(rule, ast.Constant):
                yield str(rule.value)
            elif isinstance(rule, ast.JoinedStr):
                pieces = [part.value if isinstance(part, ast.Constant) else "{}" for part in rule.values]
                yield from TOGETHER["".join(map(str, pieces))]
            else:
                yield from FROM_NAMES[where]


def every_rule() -> set[str]:
    shipped = settings.load()
    tables = {rule.id for rule in (*shipped.patterns, *RULES)} | {f"label.{leaf}" for leaf in shipped.labels}
    return tables | {name for name, *_ in (*ages._FINDS, *Streets(shipped)._rules)} | set(written_in_the_code())


@cache
def deid() -> Deidentifier:
    """The shipped rules; sums of money are under the threshold, and a list of what to deny is the user's."""
    return Deidentifier.load({"thresholds": {"quantity": 0.3}, "deny": {"employer": ["Acme Mill"]}}, tagger="off")


def test_every_rule_has_its_cases() -> None:
    assert set(CASES) == every_rule()
    for rule, cases in CASES.items():
        assert len(cases["finds"]) >= 2 and cases["leaves"], rule


@pytest.mark.parametrize("rule", CASES)
def test_what_a_rule_finds(rule: str) -> None:
    for case in CASES[rule]["finds"]:
        ((leaf, marked),) = case.items() if isinstance(case, dict) else ((CASES[rule]["leaf"], case),)
        before, _, rest = marked.partition("[[")
        inside, _, after = rest.partition("]]")
        found = deid().detect([before + inside + after])[0]
        wanted = (len(before), len(before + inside), leaf, rule)
        assert wanted in [(one.start, one.end, one.label, one.rule) for one in found], (marked, found)


@pytest.mark.parametrize("rule", CASES)
def test_near_misses_stay(rule: str) -> None:
    for text in CASES[rule]["leaves"]:
        assert deid().detect([text])[0] == [], text


def test_notes_are_found_by_rules_that_have_cases() -> None:
    notes = [note.text for note in generate(12, seed=47, ambiguity="high", density="high").documents()]
    found = {one.rule for findings in deid().detect([*notes, *map(str.lower, notes)]) for one in findings}
    assert len(found) > 40 and found <= set(CASES)


def test_nan_is_no_state() -> None:
    """What a table leaves empty is written so by some tools; nobody lives there."""
    text = "412 Quince Street\nQuarryvale\nnan\n44101"
    assert all("nan" not in text[one.start : one.end] for one in deid().detect([text])[0])
