"""The yardstick of a study: labels, policies, modes, levels, equivalences and ignored labels, made ready to be counted.

Turns batches of documents and what a system found in them into matchups; counts nothing itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from workup.documents.batch import Batch, coded
from workup.documents.detections import Found
from workup.documents.document import IDENTIFIERS, SpanArrays
from workup.documents.labels import CODE, LEVELS, NAMES, SCHEME, UNMAPPED, at_level, branch_of
from workup.documents.mappings import LabelMapping
from workup.documents.policies import Policy, decide
from workup.documents.titles import title_length
from workup.errors import StudyError, near
from workup.tasks.spans.counting.crowding import Crowding
from workup.tasks.spans.counting.equivalence import Equivalence
from workup.tasks.spans.counting.ignored_labels import IgnoredLabels
from workup.tasks.spans.counting.matchup import PHI, Level, Matchup, Setting
from workup.tasks.spans.counting.modes import DEFAULT_MODES, Mode, levels_counted, parse_mode, parse_modes

CURVE = tuple(parse_mode(f"iou:{tenth / 10:g}") for tenth in range(1, 11))  # recall and precision over τ
FULL_MASK = parse_mode("full_mask")
_NO_IDENTIFIER = -1
_Codes = npt.NDArray[np.int32]


class Golds(NamedTuple):
    """The golds of a batch under one set of policies: arrays, canonical and identifier codes, decisions by policy."""

    spans: SpanArrays
    canonical: npt.NDArray[np.int32]
    identifier: npt.NDArray[np.int32]
    decisions: Mapping[str, npt.NDArray[np.int8]]
    ids: Sequence[str] = ()  # of the documents, for messages


@dataclass(frozen=True, eq=False)
class Yardstick:
    """What is counted. `Yardstick.of` reads it from the fields of a study."""

    gold_labels: LabelMapping
    found_labels: LabelMapping
    policies: tuple[Policy, ...]
    modes: tuple[Mode, ...]
    levels: tuple[str, ...]
    equivalence: Equivalence | None = None
    ignored: IgnoredLabels = field(default_factory=lambda: IgnoredLabels(frozenset(), frozenset()))
    primary: Mapping[str, Any] = field(default_factory=dict)
    crowding: Crowding = field(default_factory=Crowding)

    @classmethod
    def of(
        cls,
        *,
        labels: str = "",
        system_labels: str = "",
        policies: Sequence[str] = (),
        modes: Sequence[str] = (),
        levels: Sequence[str] = (),
        equivalent: Sequence[str] = (),
        ignore: Sequence[str] = (),
        primary: Mapping[str, Any] | None = None,
        crowding: Crowding | None = None,
    ) -> Yardstick:
        """Read names as studies and commands give them; what is not named has its default.

        >>> stick = Yardstick.of(policies=["hipaa_safe_harbor"], modes=["iou:.50", "char"])
        >>> [(s.mode.name, s.level) for s in stick.settings]
        [('iou:0.5', 'leaf'), ('iou:0.5', 'branch'), ('iou:0.5', 'phi'), ('char', 'phi'), ('full_mask', 'phi')]
        """
        gold_labels = LabelMapping.load(labels or "workup")
        found_labels = LabelMapping.load(system_labels) if system_labels else gold_labels
        for level in levels:
            if level not in LEVELS:
                raise StudyError(f"levels: a level must be leaf, branch or phi; {near(level, LEVELS)}.")
        stick = cls(
            gold_labels=gold_labels,
            found_labels=found_labels,
            policies=tuple(Policy.load(name) for name in dict.fromkeys(policies or ("as_annotated",))),
            modes=parse_modes(modes or DEFAULT_MODES),
            levels=tuple(level for level in LEVELS if level in (levels or LEVELS)),
            equivalence=Equivalence.parse(equivalent, mapping=gold_labels) if equivalent else None,
            # A label of the corpus that no mapping knows may be ignored too, so any name that is written is taken.
            ignored=IgnoredLabels.parse(ignore, mapping=gold_labels, seen=ignore),
            primary=dict(primary or {}),
            crowding=crowding or Crowding(),
        )
        if len({policy.name for policy in stick.policies}) < len(stick.policies):
            raise StudyError("policies: two of them have one name. To fix: rename one of the files.")
        stick._check_primary()
        return stick

    # ---- what is counted ---------------------------------------------------------------------------------------------

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Every mode at every level it is counted at, and at the equivalences beside it, under every policy.

        The primary setting is among them, asked for or not: gates and the analysis of errors rest on it.
        """
        asked = [
            Setting(mode, level, policy.name)
            for mode in self.modes
            for level in self._levels_of(mode)
            for policy in self.policies
        ]
        primary = self.primary_setting
        beside = [Setting(primary.mode, primary.level, policy.name) for policy in self.policies]
        return tuple(dict.fromkeys((*asked, *beside)))

    @property
    def curve(self) -> tuple[Setting, ...]:
        """IoU at ten thresholds under the primary policy, at phi and at the primary level where that is another."""
        levels = dict.fromkeys((PHI, str(self.primary.get("level", PHI))))
        return tuple(Setting(mode, level, self.primary_policy) for level in levels for mode in CURVE)

    @property
    def full_mask(self) -> tuple[Setting, ...]:
        """Every gold masked whole, under each policy: what leak rates rest on, asked for or not."""
        return tuple(Setting(FULL_MASK, PHI, policy.name) for policy in self.policies)

    @property
    def primary_policy(self) -> str:
        """The policy that a number without a policy's name is under."""
        return str(self.primary.get("policy", self.policies[0].name))

    @property
    def primary_setting(self) -> Setting:
        """The mode and level at which single spans are shown and errors analysed."""
        return Setting(
            parse_mode(str(self.primary.get("mode", "full_mask"))),
            str(self.primary.get("level", PHI)),
            self.primary_policy,
        )

    def key(self, setting: Setting) -> dict[str, str]:
        """The slice keys of a setting; a policy is named where there are several."""
        level, _, equal = setting.level.partition("[")
        found = {"mode": setting.mode.name, "level": level}
        if equal:
            found["equivalent"] = equal.removesuffix("]")
        return found | self.policy_key(setting.policy)

    def policy_key(self, policy: str) -> dict[str, str]:
        """The slice key of a policy, where there are several."""
        return {"policy": policy} if len(self.policies) > 1 else {}

    def policy(self, name: str) -> Policy:
        """A policy by its name."""
        return next(policy for policy in self.policies if policy.name == name)

    def _levels_of(self, mode: Mode) -> tuple[str, ...]:
        levels = levels_counted(mode, self.levels)
        if self.equivalence is None or mode.label_blind or mode.published:
            return levels
        return (*levels, *(f"{level}[{self.equivalence.name}]" for level in levels if self._changes(level)))

    def _changes(self, level: str) -> bool:
        """Whether the equivalence makes any two types of this level equal."""
        assert self.equivalence is not None
        if level == PHI:
            return False
        types = self.equivalence.level_codes(np.arange(len(NAMES)), level)  # type: ignore[arg-type]
        return len(set(types.tolist())) < len({at_level(name, level) for name in NAMES})  # type: ignore[arg-type]

    def _check_primary(self) -> None:
        known = ("mode", "level", "policy")
        for key in self.primary:
            if key not in known:
                raise StudyError(f"primary: '{key}' is not known for spans; {near(key, known)}.")
        if self.primary_policy not in {policy.name for policy in self.policies}:
            names = [policy.name for policy in self.policies]
            raise StudyError(f"primary.policy: not one of the policies; {near(self.primary_policy, names)}.")
        setting = self.primary_setting
        if setting.mode.published:
            raise StudyError("primary.mode: published rules stand beside the others for comparison only.")
        if setting.mode.by_unit:
            raise StudyError("primary.mode: name a mode that counts spans, such as full_mask or iou:0.5.")
        if setting.level not in LEVELS:
            raise StudyError(f"primary.level: a level must be leaf, branch or phi; {near(setting.level, LEVELS)}.")

    # ---- matchups ----------------------------------------------------------------------------------------------------

    @property
    def policy_sets(self) -> tuple[tuple[Policy, ...], ...]:
        """Policies that see the same golds: those that leave titles in names, and those that cut them."""
        sets = ([p for p in self.policies if p.titles == kind] for kind in ("with_name", "without_name"))
        return tuple(tuple(one) for one in sets if one)

    def golds(self, batch: Batch, policies: Sequence[Policy], unmapped: Counter[str] | None = None) -> Golds:
        """The golds of a batch as these policies see them; labels without a canonical name are counted."""
        labels, ways, place = self._coded(batch, unmapped)
        label, canonical, identifier = (column.take(place) for column in ways)
        start = batch.spans.start
        if policies and policies[0].titles == "without_name":
            start = np.array(_without_titles(batch, canonical), dtype=np.int32)
        spans = SpanArrays(batch.spans.document, start, batch.spans.end, label, labels)
        decided = decide(policies, ways[1], ways[2])  # once for each way of writing, not for each gold
        decisions = {policy.name: one.take(place) for policy, one in zip(policies, decided, strict=True)}
        return Golds(spans, canonical, identifier, decisions, batch.ids)

    def found(self, found: Found, unmapped: Counter[str] | None = None) -> SpanArrays:
        """Predictions under the names by which they are compared."""
        written, place = found.spans.labels, found.spans.label
        if unmapped is not None:
            for label, times in zip(written, np.bincount(place, minlength=len(written)).tolist(), strict=True):
                if self.found_labels.of(label) is None:
                    unmapped[label] += times
        labels, code = coded([self._name(label, self.found_labels) for label in written])
        return SpanArrays(found.spans.document, found.spans.start, found.spans.end, code[place], labels)

    def matchup(self, golds: Golds, found: SpanArrays, *, texts: Sequence[str], answered: Sequence[bool]) -> Matchup:
        """What is counted of a batch, unless a document of it is too crowded to be."""
        if texts:
            self.crowding.check(golds.ids, texts, golds.spans, found)
        names = tuple(dict.fromkeys((*golds.spans.labels, *found.labels)))
        return Matchup(
            golds.spans,
            found,
            len(texts),
            golds.decisions,
            levels=self._levels(names),
            texts=texts,
            answered=np.array(answered, dtype=np.bool_),
            ignored=[name for name in names if name in self.ignored.canonical or name in self.ignored.labels],
        )

    def _levels(self, names: Iterable[str]) -> tuple[Level, ...]:
        """Levels over these names; a written label that is ignored by itself has the type of what it maps to."""
        canonical = {name: self._canonical(name) for name in names}
        known = {name: one for name, one in canonical.items() if one is not None}
        branches = {name: branch_of(one) for name, one in known.items()}
        leaves = {name: one if one in SCHEME else None for name, one in known.items()}
        levels = [Level("leaf", leaves), Level("branch", branches, branches), Level(PHI)]
        if self.equivalence is not None:
            for level, rows in (("leaf", {}), ("branch", branches)):
                if self._changes(level):
                    types = {name: self._equal_type(one, level) for name, one in known.items()}
                    levels.append(Level(f"{level}[{self.equivalence.name}]", types, rows, prefers=False))
        return tuple(levels)

    def _equal_type(self, name: str, level: str) -> str | None:
        assert self.equivalence is not None
        code = int(self.equivalence.level_codes([CODE[name]], level)[0])  # type: ignore[arg-type]
        return None if code == UNMAPPED else str(code)

    def _name(self, label: str, mapping: LabelMapping, subtype: str | None = None) -> str:
        """The name a span is counted by: canonical where it has one, else, or where ignored by itself, as written."""
        found = mapping.of(label, subtype=subtype)
        return label if found is None or label in self.ignored.labels else found.name

    def _canonical(self, name: str) -> str | None:
        if name in CODE:
            return name
        found = self.gold_labels.of(name) or self.found_labels.of(name)
        return None if found is None else found.name

    def _coded(self, batch: Batch, unmapped: Counter[str] | None) -> tuple[tuple[str, ...], _Codes, _Codes]:
        """Names that golds are counted by; of each way of writing, its place there, its canonical and its identifier
        code; and the way of each gold. Each distinct way is looked up once.
        """
        ways, place = batch.ways
        times = np.bincount(place, minlength=len(ways)).tolist()
        names: list[str] = []
        codes = np.empty((3, len(ways)), dtype=np.int32)
        for i, (label, subtype, kind) in enumerate(ways):
            found = self.gold_labels.of(label, subtype=subtype, identifier=kind)
            known = self.gold_labels.identifier(kind)
            names.append(self._name(label, self.gold_labels, subtype))
            codes[1, i] = UNMAPPED if found is None else found.code
            codes[2, i] = _NO_IDENTIFIER if known is None else IDENTIFIERS.index(known)
            if found is None and unmapped is not None:
                unmapped[label] += times[i]
        labels, codes[0] = coded(names)
        return labels, codes, place


def _without_titles(batch: Batch, canonical: npt.NDArray[np.int32]) -> list[int]:
    """Starts of golds with the titles of names cut off."""
    texts = [text for text, count in zip(batch.texts, batch.counts, strict=True) for _ in range(count)]
    names = np.array([branch_of(name) == "NAME" for name in NAMES] + [False])[canonical]
    return [
        start + title_length(text[start:end]) if name else start
        for text, start, end, name in zip(texts, batch.starts, batch.ends, names.tolist(), strict=True)
    ]
