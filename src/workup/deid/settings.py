"""Rules as YAML has them, those shipped and a user's own, read and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from workup.deid.identifiers.validators import CHECKS
from workup.deid.patterns.finder import Finder
from workup.deid.patterns.safe_regex import compiled
from workup.documents.labels import SCHEME, branch_of
from workup.errors import InputError, near
from workup.files.yaml_files import read_yaml
from workup.settings import taught

VALUES = ("code", "digits", "phone", "word", "plate", "user")
DateOrder = Literal["mdy", "dmy", "ymd"]
Titles = Literal["apart", "inside"]
_SHIPPED = files("workup.deid") / "data" / "rules.yaml"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class PatternRule(_Part):
    """One pattern for one leaf."""

    id: str = Field(pattern=r"^[a-z0-9_.]{2,60}$")
    leaf: str
    finds: str
    sure: float = Field(default=0.8, gt=0, le=1)
    holds: str = ""
    near: list[str] = []
    needs: str | list[str] = Field(default="", alias="if")
    long: int = Field(default=0, ge=0, le=100)  # letters and digits that the longest word of a text must have


class LabelRule(_Part):
    """Words that a value of a leaf follows."""

    words: list[str]
    value: str = "code"
    least: int = Field(default=4, ge=1, le=40)


class RulesFile(_Part):
    """The whole file."""

    version: str = "1"
    date_order: DateOrder | None = None
    titles: Titles | None = None
    thresholds: dict[str, float] = {}
    patterns: list[PatternRule] = []
    labels: dict[str, LabelRule] = {}
    cues: dict[str, list[str]] = {}
    lists: dict[str, list[str]] = {}
    not_names: list[str] = []
    names: list[str] = []
    allow: list[str] = []
    deny: dict[str, list[str]] = {}
    without: list[str] = []


@dataclass(frozen=True)
class Pattern:
    """A pattern ready to search with."""

    id: str
    leaf: str
    finds: Finder
    sure: float
    holds: str
    near: frozenset[str]
    needs: tuple[str, ...]
    long: int = 0


@dataclass(frozen=True)
class Settings:
    """All rules in force."""

    date_order: DateOrder
    titles: Titles
    thresholds: Mapping[str, float]
    patterns: tuple[Pattern, ...]
    labels: Mapping[str, LabelRule]
    cues: Mapping[str, tuple[str, ...]]
    lists: Mapping[str, frozenset[str]]
    not_names: frozenset[str]
    names: frozenset[str]
    allow: tuple[str, ...]
    deny: Mapping[str, tuple[str, ...]]
    without: frozenset[str]
    version: str
    digest: str = field(default="", compare=False)

    def threshold(self, leaf: str) -> float:
        """The least score at which a leaf is reported."""
        return self.thresholds.get(leaf, self.thresholds.get(branch_of(leaf), self.thresholds["default"]))

    def on(self, rule: str) -> bool:
        """Whether a rule is in force: neither it nor a rule it belongs to is left out."""
        return not self.without or not any(rule == one or rule.startswith(one + ".") for one in self.without)


def load(config: str | Path | Mapping[str, Any] | None = None) -> Settings:
    """The shipped rules, with a user's own on top (a file, or what such a file would hold)."""
    if config is None:
        return _shipped()
    where = "config" if isinstance(config, Mapping) else str(config)
    return _settings([_shipped_file(), _checked(_content(config), where=where)], where=where)


@cache
def _shipped() -> Settings:
    return _settings([_shipped_file()], where="rules.yaml")


@cache
def _shipped_file() -> RulesFile:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same answers, ten times as fast where it is built
    return _checked(yaml.load(_SHIPPED.read_text(encoding="utf-8"), Loader=loader), where="rules.yaml")


def _content(config: str | Path | Mapping[str, Any]) -> Any:
    if isinstance(config, Mapping):
        return dict(config)
    content, _ = read_yaml(Path(config), noun="rules", fast=True)
    return content or {}


def _checked(content: Any, *, where: str) -> RulesFile:
    try:
        return RulesFile.model_validate(content)
    except ValidationError as error:
        raise InputError(
            "the rules must have the shape of the shipped ones",
            where=where,
            got=taught(error, RulesFile, where="this fault").rstrip("."),
            remedy="quote words that YAML reads as something else (on, off, yes, no, dates)",
        ) from None


def _settings(parts: Sequence[RulesFile], *, where: str) -> Settings:
    import hashlib

    patterns = {rule.id: _pattern(rule, where=where) for part in parts for rule in part.patterns}
    without = frozenset(one for part in parts for one in part.without)
    found = Settings(
        date_order=next((part.date_order for part in reversed(parts) if part.date_order), "mdy"),
        titles=next((part.titles for part in reversed(parts) if part.titles), "apart"),
        thresholds=_thresholds(parts, where=where),
        patterns=tuple(rule for rule in patterns.values() if rule.id not in without),
        labels=_labels(parts, where=where),
        cues={kind: tuple(words) for kind, words in _joined([part.cues for part in parts]).items()},
        lists={kind: frozenset(words) for kind, words in _joined([part.lists for part in parts]).items()},
        not_names=frozenset(word.lower() for part in parts for word in part.not_names),
        names=frozenset(word.lower() for part in parts for word in part.names),
        allow=tuple(phrase for part in parts for phrase in part.allow),
        deny=_denied(parts, where=where),
        without=without,
        version=parts[0].version,
    )
    text = "".join(part.model_dump_json() for part in parts)
    object.__setattr__(found, "digest", hashlib.sha256(text.encode()).hexdigest()[:12])
    return found


def _labels(parts: Sequence[RulesFile], *, where: str) -> dict[str, LabelRule]:
    labels: dict[str, LabelRule] = {}
    for part in parts:
        for leaf, rule in part.labels.items():
            _known_leaf(leaf, where=f"{where}, labels")
            if rule.value not in VALUES:
                raise InputError(
                    "'value' must be a known way to read one",
                    where=f"{where}, labels.{leaf}",
                    remedy=near(rule.value, VALUES),
                )
            old = labels.get(leaf)
            words = [*(old.words if old else []), *rule.words]
            labels[leaf] = rule.model_copy(update={"words": list(dict.fromkeys(map(str.lower, words)))})
    return labels


def _thresholds(parts: Sequence[RulesFile], *, where: str) -> dict[str, float]:
    thresholds = {name: score for part in parts for name, score in part.thresholds.items()}
    for name in thresholds:
        if name != "default" and name not in SCHEME and not name.isupper():
            _known_leaf(name, where=f"{where}, thresholds")
    return thresholds


def _denied(parts: Sequence[RulesFile], *, where: str) -> dict[str, tuple[str, ...]]:
    deny: dict[str, tuple[str, ...]] = {}
    for part in parts:
        for leaf, phrases in part.deny.items():
            _known_leaf(leaf, where=f"{where}, deny")
            deny[leaf] = (*deny.get(leaf, ()), *phrases)
    return deny


def _joined(tables: Sequence[Mapping[str, list[str]]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for table in tables:
        for kind, words in table.items():
            found.setdefault(kind, []).extend(word.lower() for word in words)
    return found


def _known_leaf(leaf: str, *, where: str) -> None:
    if leaf not in SCHEME or branch_of(leaf) == "CLIN":
        raise InputError(
            "a rule must be for a leaf that may be masked", where=where, got=f"'{leaf[:40]}'", remedy=near(leaf, SCHEME)
        )


def _pattern(rule: PatternRule, *, where: str) -> Pattern:
    here = f"{where}, rule '{rule.id}'"
    _known_leaf(rule.leaf, where=here)
    if rule.holds and rule.holds not in CHECKS:
        raise InputError("'holds' must name a check", where=here, remedy=near(rule.holds, CHECKS))
    near_words = frozenset(word.lower() for word in rule.near)
    finds = Finder(compiled(rule.finds, where=here).pattern)
    pieces = [rule.needs] if isinstance(rule.needs, str) else rule.needs
    needs = tuple(piece.lower() for piece in pieces if piece)
    return Pattern(rule.id, rule.leaf, finds, rule.sure, rule.holds, near_words, needs, rule.long)
