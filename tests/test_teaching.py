"""Wrong settings are refused in the words of YAML, whatever the field and whatever the value."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import pytest
from annotated_types import Ge
from pydantic import BaseModel, Field, SecretStr

from workup.errors import StudyError
from workup.lenses.drift.settings import Settings as DriftSettings
from workup.lenses.internal import Settings as InternalSettings
from workup.lenses.power.lens import Settings as PowerSettings
from workup.lenses.sites.lens import Settings as SitesSettings
from workup.lenses.subgroups.lens import Settings as SubgroupSettings
from workup.settings import Part
from workup.study import Study
from workup.documents.mappings import MappingPart
from workup.documents.policies import PolicyPart

ROOTS: list[type[Part]] = [
    *(Study, InternalSettings, SubgroupSettings, PowerSettings, DriftSettings, SitesSettings, MappingPart, PolicyPart)
]
WRONG: list[Any] = [
    *(None, True, 0, -1, 3, 2.5, 1e30, float("nan"), float("inf"), 10**400, "", "word", "0,5", "12%", "x" * 500),
    *([], [1], ["a", "b", "c"], [[]], [None], [{}], {}, {"a": 1}, {1: 2}, {"a": None}, {"a": {"b": []}}),
    *(datetime.date(2024, 5, 1), b"bytes"),
]
# Pydantic's own words, which say nothing to someone who writes YAML.
FOREIGN = (
    *("Input should", "tuple", "dictionary", "instance of", "Extra inputs", "unable to", "[key]", "function-"),
    *("Keys should", "Field required", "valid string", "valid integer", "valid number", "valid boolean", "Value error"),
    *("dict[", "NoneType", "constrained", "literal", "finite number", "list[", "after validation", "Tuple", "List"),
)


def _models(root: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A model with all models inside it."""
    yield root
    for field in root.model_fields.values():
        for part in _parts(field.annotation):
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield from _models(part)


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)


FIELDS = [
    (model, field.alias or name)
    for model in dict.fromkeys(model for root in ROOTS for model in _models(root))
    for name, field in model.model_fields.items()
]


@pytest.mark.parametrize(("model", "field"), FIELDS, ids=[f"{m.__module__}.{m.__name__}.{f}" for m, f in FIELDS])
def test_no_field_answers_in_foreign_words(model: type[Part], field: str) -> None:
    for value in WRONG:
        try:
            model.checked({field: value}, where="study.yaml")
        except StudyError as error:
            message = str(error)
            own = [line for line in message.splitlines() if f"'{field}" in line and "is missing" not in line]
            assert not [words for line in own for words in FOREIGN if words in line], message
            assert all(len(line) < 500 for line in own if ": expected" in line), message


class Nested(Part):
    """One field of each shape that settings are made of."""

    name: str = "x"
    secret_key: str = ""
    hidden: SecretStr = SecretStr("")
    size: Annotated[int, Ge(2)] = 2
    share: float = Field(0.5, gt=0, lt=1)
    on: bool = False
    kind: Literal["fast", "exact"] = "fast"
    many: list[str] = Field(default_factory=list, max_length=2)
    pair: tuple[float, float] = (0, 1)
    either: int | Literal["all"] | None = None
    table: dict[str, float | list[float]] = Field(default_factory=dict)
    inner: tuple[InternalSettings, ...] = ()
    code: str = Field("ab", pattern="^[a-z]+$", min_length=2)
    file: Path = Path()


SENTENCES: list[tuple[str, Any, str]] = [
    ("name", 3, "'name': expected text; got 3. To fix: put it in quotes: \"3\"."),
    ("name", None, "'name': expected text; got nothing. To fix: give a value, or leave the field out."),
    ("size", 1, "'size': expected a whole number of at least 2; got 1."),
    ("size", True, "'size': expected a number; got true."),
    ("share", "0,5", "'share': expected a number above 0 and below 1; got '0,5'. To fix: write the number with a "
     "decimal point and no other sign, such as 0.2."),
    ("on", "maybe", "'on': expected true or false; got 'maybe'."),
    ("kind", "exat", "'kind': expected one of fast, exact; got 'exat'. To fix: write exact."),
    ("many", "one", "'many': expected a list of texts such as [first, second], at most 2 items; got 'one'."),
    ("many", ["a", "b", "c"], "at most 2 items; got a list of 3."),
    ("pair", [1], "'pair': expected a list of 2 numbers such as [0.1, 0.2]; got a list of 1."),
    ("either", "some", "'either': expected a whole number or one of all; got 'some'."),
    ("table", {"a": "x"}, "'table.a': expected a number or a list of numbers such as [0.1, 0.2]; got 'x'."),
    ("table", [1], "'table': expected a mapping such as {name: value}; got a list of 1."),
    ("inner", {"folds": 2}, "To fix: begin each item on a line of its own with a dash."),
    ("inner", [{"fold": 2}], "'inner.0.fold' is not a known field; did you mean 'folds'?"),
    ("code", "A1", "'code': expected text, at least 2 characters and of the form ^[a-z]+$; got 'A1'."),
    ("file", [1], "'file': expected a path; got a list of 1."),
]  # fmt: skip


@pytest.mark.parametrize(("field", "value", "says"), SENTENCES, ids=[f"{f}={v}" for f, v, _ in SENTENCES])
def test_each_shape_has_its_sentence(field: str, value: Any, says: str) -> None:
    with pytest.raises(StudyError) as caught:
        Nested.checked({field: value}, where="systems.a")
    assert says in str(caught.value)


@pytest.mark.parametrize("field", ["secret_key", "hidden"])
def test_a_secret_is_not_repeated(field: str) -> None:
    with pytest.raises(StudyError) as caught:
        Nested.checked({field: 31415926}, where="systems.a")
    assert "31415926" not in str(caught.value)


def test_a_control_character_cannot_steer_a_terminal() -> None:
    with pytest.raises(StudyError) as caught:
        Nested.checked({"\x1b[31mname": 1, "on": "\x1b[31m"}, where="study.yaml")
    assert "\x1b" not in str(caught.value)
