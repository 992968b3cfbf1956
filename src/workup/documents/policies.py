"""Policies: which golds must be masked, which may be and which must not. A policy is not a label; gold stays complete.

Knows canonical names and identifier types but no text: rules that need one (ZIP3, ages of 90 and over) are settled by
the leaf that a gold carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os.path import isfile
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
from pydantic import Field, field_validator

from workup.documents.document import IDENTIFIERS
from workup.documents.labels import BRANCHES, CODE, NAMES, SCHEME, branch_of, canonical_name, leaves_of
from workup.documents.mappings import Canonical, beside, read_content, shipped
from workup.errors import InputError, StudyError, near
from workup.settings import Part

Decision = Literal["must_not", "may", "must"]
DECISIONS: tuple[Decision, ...] = ("must_not", "may", "must")  # a decision's code is its place here
MUST_NOT, MAY, MUST = range(3)
Decisions = npt.NDArray[np.int8]
Titles = Literal["with_name", "without_name"]
BareYears = Literal["as_listed", "mask", "keep"]
_PROTECTED = "CLIN"
# Switches as they stand behind a policy's name: hipaa_safe_harbor+keep_years+without_titles.
_SWITCHES: Mapping[str, tuple[str, str]] = {
    "mask_years": ("bare_years", "mask"),
    "keep_years": ("bare_years", "keep"),
    "with_titles": ("titles", "with_name"),
    "without_titles": ("titles", "without_name"),
}


class PolicyPart(Part):
    """A policy file."""

    describe: str = Field("", description="What the policy asks, in a sentence")
    source: str = Field(description="The rule or the paper behind it")
    extends: str | None = Field(None, description="Policy that this one overrides: a name or a path")
    must: tuple[str, ...] = Field((), description="Leaves and branches that must be masked")
    may: tuple[str, ...] = Field((), description="Leaves and branches that may be masked")
    must_not: tuple[str, ...] = Field((), description="Leaves and branches that must not be masked")
    coarse: dict[str, Decision] = Field(
        default_factory=dict, description="Decision on a branch as a label, where its leaves differ"
    )
    identifiers: dict[str, Decision] = Field(
        default_factory=dict, description="Decision by the annotators' identifier type, before the leaf's"
    )
    unmapped: Decision | None = Field(None, description="Decision on golds without a canonical name")
    titles: Titles | None = Field(None, description="with_name: as annotated; without_name: titles cut from golds")
    bare_years: BareYears | None = Field(None, description="mask: year_only must; keep: must not; as_listed")

    @field_validator("must", "may", "must_not")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        wrong = [f"'{name[:60]}'; {near(name, NAMES)}" for name in names if name not in CODE]
        if wrong:
            raise ValueError("not a leaf or a branch of the canonical scheme: " + "; ".join(wrong))
        return names

    @field_validator("identifiers")
    @classmethod
    def _identifiers(cls, table: dict[str, Decision]) -> dict[str, Decision]:
        wrong = [f"'{kind[:60]}'; {near(kind, IDENTIFIERS)}" for kind in table if kind not in IDENTIFIERS]
        if wrong:
            raise ValueError("not an identifier type: " + "; ".join(wrong))
        return table

    @field_validator("coarse")
    @classmethod
    def _branches(cls, table: dict[str, Decision]) -> dict[str, Decision]:
        wrong = [f"'{name[:60]}'; {near(name, BRANCHES)}" for name in table if name not in BRANCHES]
        if wrong:
            raise ValueError("not a branch: " + "; ".join(wrong))
        return table


@dataclass(frozen=True)
class Policy:
    """What must, may and must not be masked, for every leaf and every branch. `Policy.load("gdpr_tab")` reads one.

    A coarse gold (a branch) takes the strictest decision among the leaves of its branch, unless the policy names
    another: a name that may be the patient's must be masked. The identifier type, where the policy speaks of it, comes
    before the leaf; clinical leaves must not be masked whatever it says.
    """

    name: str
    must: frozenset[str]
    may: frozenset[str]
    must_not: frozenset[str]
    identifiers: Mapping[str, Decision] = field(default_factory=dict)
    unmapped: Decision = "may"
    titles: Titles = "with_name"
    bare_years: BareYears = "as_listed"
    source: str = ""
    describe: str = ""

    def __post_init__(self) -> None:
        for name in NAMES:
            found = sum(name in names for names in (self.must, self.may, self.must_not))
            if found != 1:
                raise StudyError(
                    f"policy '{self.name}': every leaf and branch needs exactly one decision; '{name}' has {found}. "
                    "To fix: list it once under must, may or must_not."
                )
        touched = sorted(name for name in (self.must | self.may) if branch_of(name) == _PROTECTED)
        if touched:
            raise StudyError(
                f"policy '{self.name}': clinical terms must never be masked; got {', '.join(touched)} under must or "
                "may. To fix: list CLIN under must_not."
            )

    @classmethod
    def load(cls, name_or_path: str | Path) -> Policy:
        """A shipped policy by name or the user's own by path, with switches behind it after '+'.

        >>> policy = Policy.load("hipaa_safe_harbor")
        >>> policy.of("name_patient"), policy.of("name_provider"), policy.of("drug")
        ('must', 'may', 'must_not')
        >>> Policy.load("hipaa_safe_harbor+keep_years").of("year_only")
        'must_not'
        """
        text = str(name_or_path)
        base, *switches = [text] if isfile(text) else text.split("+")
        policy = _read(base)
        for switch in switches:
            if switch not in _SWITCHES:
                raise StudyError(f"policy '{text[:200]}': no such switch; {near(switch, _SWITCHES)}.")
            which, value = _SWITCHES[switch]
            policy = policy.switched(**{which: value})  # type: ignore[arg-type]
        return replace(policy, name="+".join((policy.name, *switches)))

    def switched(self, *, titles: Titles | None = None, bare_years: BareYears | None = None) -> Policy:
        """The same policy with a switch set. `keep` means that a mask on a bare year is a false alarm.

        >>> Policy.load("hipaa_safe_harbor").switched(bare_years="mask").of("year_only")
        'must'
        """
        policy = replace(self, titles=titles or self.titles, bare_years=bare_years or self.bare_years)
        if bare_years not in ("mask", "keep"):
            return policy
        year = frozenset({"year_only"})
        must, must_not = (
            (self.must | year, self.must_not - year)
            if bare_years == "mask"
            else (self.must - year, self.must_not | year)
        )
        return replace(policy, must=must, may=self.may - year, must_not=must_not)

    def of(self, canonical: Canonical | str | None, identifier: str | None = None) -> Decision:
        """The decision on a gold; None is a gold whose label is not mapped.

        >>> Policy.load("as_annotated").of("city"), Policy.load("as_annotated").of("city", "no_mask")
        ('must', 'must_not')
        """
        name = canonical.name if isinstance(canonical, Canonical) else canonical
        if isinstance(canonical, Canonical) and identifier is None:
            identifier = canonical.identifier
        if identifier is not None and identifier not in IDENTIFIERS:
            raise InputError("an identifier type must be direct, quasi, no_mask or unknown", got=repr(identifier[:60]))
        row = -1 if name is None else CODE[canonical_name(name)]
        return DECISIONS[int(self.table[row, -1 if identifier is None else IDENTIFIERS.index(identifier)])]

    @cached_property
    def table(self) -> Decisions:
        """Decisions by canonical code and identifier code; the last row is unmapped, the last column no identifier."""
        by_name = [self._listed(name) for name in NAMES] + [DECISIONS.index(self.unmapped)]
        table = np.repeat(np.array(by_name, dtype=np.int8)[:, None], len(IDENTIFIERS) + 1, axis=1)
        protected = np.array([branch_of(name) == _PROTECTED for name in NAMES] + [False])
        # What nobody has judged is neither hit nor miss, and a mask on it is neutral, whatever the leaf.
        for kind, decision in {"unknown": "may", **self.identifiers}.items():
            table[~protected, IDENTIFIERS.index(kind)] = DECISIONS.index(decision)
        return table

    def _listed(self, name: str) -> int:
        return MUST if name in self.must else MAY if name in self.may else MUST_NOT


def decide(policies: Sequence[Policy], canonical: npt.ArrayLike, identifier: npt.ArrayLike) -> Decisions:
    """Decisions of several policies on many golds at once, one row per policy (places in DECISIONS).

    `canonical` are places in `labels.NAMES`, `identifier` places in IDENTIFIERS; -1 is none.

    >>> both = [Policy.load("as_annotated"), Policy.load("hipaa_safe_harbor")]
    >>> decide(both, [CODE["city"], CODE["state"], CODE["drug"]], [-1, -1, -1]).tolist()
    [[2, 2, 0], [2, 1, 0]]
    """
    rows, columns = np.asarray(canonical, dtype=np.int64), np.asarray(identifier, dtype=np.int64)
    if not policies:
        return np.empty((0, *rows.shape), dtype=np.int8)
    return np.stack([policy.table[rows, columns] for policy in policies])


def _read(name_or_path: str, *, within: tuple[str, ...] = ()) -> Policy:
    name, content, lines = read_content(name_or_path, kind="policies", within=within)
    part = PolicyPart.checked(content, where=f"policy '{name_or_path}'", lines=lines)
    base = None
    if part.extends:
        base = _read(beside(part.extends, name_or_path), within=(*within, name_or_path))
    decisions: dict[str, Decision] = {} if base is None else {leaf: base.of(leaf) for leaf in SCHEME}
    decisions |= _listed_leaves(part, policy=name)
    missing = [leaf for leaf in SCHEME if leaf not in decisions]
    if missing:
        raise StudyError(
            f"policy '{name_or_path}': no decision on {', '.join(missing)}. "
            "To fix: list each, or its branch, under must, may or must_not."
        )
    decisions |= {branch: _strictest(branch, decisions) for branch in BRANCHES}
    if base is not None:
        decisions |= {branch: base.of(branch) for branch in BRANCHES if not _changes(part, branch)}
    decisions |= part.coarse
    sets = {kind: frozenset(n for n, decision in decisions.items() if decision == kind) for kind in DECISIONS}
    policy = Policy(
        name=name,
        must=sets["must"],
        may=sets["may"],
        must_not=sets["must_not"],
        identifiers={**(base.identifiers if base else {}), **part.identifiers},
        unmapped=part.unmapped or (base.unmapped if base else "may"),
        source=part.source,
        describe=part.describe,
    )
    titles, years = part.titles, part.bare_years
    if base is not None:
        titles = titles or base.titles
        # What this file lists comes before the switch of the policy it extends.
        relisted = {"year_only", "DATE"} & {*part.must, *part.may, *part.must_not}
        years = years or (None if relisted else base.bare_years)
    return policy.switched(titles=titles, bare_years=years)


def _listed_leaves(part: PolicyPart, *, policy: str) -> dict[str, Decision]:
    """Decisions on leaves as a file lists them: a leaf by its own name comes before its branch; twice is an error."""
    found: dict[str, Decision] = {}
    for decision in get_args(Decision):
        for name in getattr(part, decision):
            if found.setdefault(name, decision) != decision:
                raise StudyError(f"policy '{policy}': '{name}' is listed under {found[name]} and under {decision}.")
    by_branch = {leaf: found[name] for name in found if name in BRANCHES for leaf in leaves_of(name)}
    return by_branch | {name: decision for name, decision in found.items() if name in SCHEME}


def _strictest(branch: str, decisions: Mapping[str, Decision]) -> Decision:
    return DECISIONS[max(DECISIONS.index(decisions[leaf]) for leaf in leaves_of(branch))]


def _changes(part: PolicyPart, branch: str) -> bool:
    return any(branch_of(name) == branch for name in (*part.must, *part.may, *part.must_not))


def known_policies() -> list[str]:
    """Names of the shipped policies."""
    return shipped("policies")
