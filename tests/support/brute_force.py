"""A second scorer of spans, slow and literal: sets of characters, every assignment tried. It shares no code with the
first.

One document at a time, one setting at a time; what a test compares the fast one with."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

MUST_NOT, MAY, MUST = range(3)


@dataclass(frozen=True)
class Gold:
    start: int
    end: int
    label: str
    decision: int = MUST


@dataclass(frozen=True)
class Found:
    start: int
    end: int
    label: str


@dataclass(frozen=True)
class Scheme:
    """Types of labels at leaf and at branch (None: none there), and labels that are ignored."""

    leaf: Mapping[str, str | None]
    branch: Mapping[str, str | None]
    ignored: frozenset[str] = frozenset()

    def type(self, label: str, level: str) -> str | None:
        if level == "phi":
            return "PHI"
        return (self.leaf if level == "leaf" else self.branch).get(label)

    def equal(self, a: str, b: str, level: str) -> bool:
        return self.type(a, level) is not None and self.type(a, level) == self.type(b, level)


@dataclass
class Score:
    """Golds and predictions of one document and setting, one entry each; or units, where a mode counts units."""

    golds: list[bool]  # of each must-mask gold (place in the list of golds): was it found
    exact: list[bool]
    gold_places: list[int]
    outcomes: list[str]  # of each prediction

    def numbers(self) -> dict[str, int]:
        kept = [one for one in self.outcomes if one != "removed"]
        return {
            "golds": len(self.golds),
            "hits": sum(self.golds),
            "exact_hits": sum(self.exact),
            "misses": len(self.golds) - sum(self.golds),
            "predictions": len(kept),
            "credited": kept.count("credited"),
            "neutral": kept.count("neutral"),
            "false_alarms": kept.count("false_alarm"),
        }


def chars(span: Gold | Found) -> set[int]:
    return set(range(span.start, span.end))


def union(spans: Sequence[Gold | Found]) -> set[int]:
    return set().union(*(chars(one) for one in spans)) if spans else set()


def solid(text: str, places: set[int]) -> set[int]:
    return {i for i in places if not text[i].isspace() and not unicodedata.category(text[i]).startswith("P")}


# ---- spans -----------------------------------------------------------------------------------------------------------


def score(mode: str, level: str, text: str, golds: Sequence[Gold], found: Sequence[Found], scheme: Scheme) -> Score:
    """A mode that counts spans, on one document."""
    stray = [not (0 <= p.start < p.end <= len(text)) for p in found]
    counted = [i for i, g in enumerate(golds) if g.label not in scheme.ignored and g.decision != MUST_NOT]
    ignored = union([g for g in golds if g.label in scheme.ignored])
    must = [i for i in counted if golds[i].decision == MUST]
    on_counted = union([golds[i] for i in counted])
    aside = [
        not s and 2 * len((chars(p) & ignored) - on_counted) > len(chars(p)) for p, s in zip(found, stray, strict=True)
    ]
    untouching = [
        not s and p.label in scheme.ignored and not chars(p) & on_counted for p, s in zip(found, stray, strict=True)
    ]
    removed = [a or (u and level != "phi") for a, u in zip(aside, untouching, strict=True)]

    def on_must(p: Found) -> set[int]:
        return chars(p) & union([golds[i] for i in must if scheme.equal(golds[i].label, p.label, level)])

    def on_may(p: Found) -> set[int]:
        return chars(p) & union([golds[i] for i in counted if golds[i].decision == MAY])

    hits: dict[int, bool] = {}
    exact: dict[int, bool] = {}
    outcomes = ["false_alarm"] * len(found)
    kind, _, share = mode.partition(":")
    if kind in ("cover", "full_mask"):
        for i in must:
            masks = [
                p
                for j, p in enumerate(found)
                if not stray[j] and (kind == "full_mask" or scheme.equal(golds[i].label, p.label, level))
            ]
            own = chars(golds[i])
            if kind == "full_mask":
                hits[i] = not solid(text, own - union(masks))
            else:
                hits[i] = Fraction(len(own & union(masks)), len(own)) >= Fraction(share)
            exact[i] = hits[i] and any((p.start, p.end) == (golds[i].start, golds[i].end) for p in masks)
        for j, p in enumerate(found):
            m = len(on_must(p)) if not stray[j] else 0
            both = len(on_must(p) | on_may(p)) if not stray[j] else 0
            if removed[j]:
                outcomes[j] = "removed"
            elif not stray[j] and 2 * m >= len(chars(p)):
                outcomes[j] = "credited"
            elif not stray[j] and 2 * both >= len(chars(p)):
                outcomes[j] = "neutral"
    else:
        free = [j for j in range(len(found)) if not stray[j] and not aside[j]]
        chosen = _assign(mode, level, golds, found, counted, free, scheme)
        for i in must:
            hits[i] = i in chosen
            p = found[chosen[i]] if i in chosen else None
            exact[i] = p is not None and (p.start, p.end) == (golds[i].start, golds[i].end)
        partner = {j: i for i, j in chosen.items()}
        for j, p in enumerate(found):
            if j in partner:
                outcomes[j] = "credited" if golds[partner[j]].decision == MUST else "neutral"
            elif removed[j]:
                outcomes[j] = "removed"
            elif not stray[j] and 2 * len(on_must(p)) < len(chars(p)) <= 2 * len(on_must(p) | on_may(p)):
                outcomes[j] = "neutral"
    return Score([hits[i] for i in must], [exact[i] for i in must], must, outcomes)


def fits(mode: str, level: str, g: Gold, p: Found, scheme: Scheme) -> bool:
    """The rule of a one-to-one mode for one gold and one prediction."""
    shared = len(chars(g) & chars(p))
    either = len(chars(g) | chars(p))
    kind, _, share = mode.partition(":")
    same = scheme.equal(g.label, p.label, level)
    if shared == 0:
        return False
    if kind == "strict":
        return (g.start, g.end) == (p.start, p.end) and same
    if kind == "exact":
        return (g.start, g.end) == (p.start, p.end)
    if kind == "iou":
        return Fraction(shared, either) >= Fraction(share) and same
    if kind == "overlap":
        return same
    if kind == "partial":
        return True
    if kind == "i2b2":
        return g.start == p.start and abs(g.end - p.end) <= 2 and same
    assert mode == "published:gold50"
    parents = {scheme.type(g.label, "leaf"), scheme.type(g.label, "branch")}
    return 2 * shared >= g.end - g.start and (same or p.label in parents)


def _assign(
    mode: str,
    level: str,
    golds: Sequence[Gold],
    found: Sequence[Found],
    counted: list[int],
    free: list[int],
    scheme: Scheme,
) -> dict[int, int]:
    order = sorted(counted, key=lambda i: (golds[i].start, golds[i].end, golds[i].label))
    offered = sorted(free, key=lambda j: (found[j].start, found[j].end, found[j].label))
    allowed = {(i, j) for i in order for j in offered if fits(mode, level, golds[i], found[j], scheme)}
    if mode == "published:gold50":
        chosen: dict[int, int] = {}
        for i in order:
            left = [j for j in offered if (i, j) in allowed and j not in chosen.values()]
            if left:
                chosen[i] = left[0]
        return chosen

    def worth(pairs: dict[int, int]) -> tuple[object, ...]:
        spans = [(golds[i], found[j]) for i, j in pairs.items()]
        iou = sum((Fraction(len(chars(g) & chars(p)), len(chars(g) | chars(p))) for g, p in spans), Fraction(0))
        ranks = tuple(-offered.index(pairs[i]) if i in pairs else -len(offered) for i in order)
        return (
            sum(g.decision == MUST for g, _ in spans),
            len(spans),
            sum((g.start, g.end) == (p.start, p.end) for g, p in spans) if mode == "partial" else 0,
            sum(scheme.equal(g.label, p.label, "leaf") for g, p in spans),
            sum(scheme.equal(g.label, p.label, "branch") for g, p in spans),
            iou,
            ranks,
        )

    return max(_assignments(order, offered, allowed), key=worth)


def _assignments(golds: list[int], found: list[int], allowed: set[tuple[int, int]]) -> Iterator[dict[int, int]]:
    """Every one-to-one assignment."""
    if not golds:
        yield {}
        return
    first, *rest = golds
    yield from _assignments(rest, found, allowed)
    for j in found:
        if (first, j) in allowed:
            for others in _assignments(rest, [one for one in found if one != j], allowed):
                yield {first: j, **others}


# ---- units -----------------------------------------------------------------------------------------------------------


def unit_numbers(
    mode: str, level: str, text: str, golds: Sequence[Gold], found: Sequence[Found], scheme: Scheme
) -> dict[str, int]:
    """`char` and `token` on one document, all labels together."""
    inside = [p for p in found if 0 <= p.start < p.end <= len(text)]
    strays = [p for p in found if not 0 <= p.start < p.end <= len(text)]
    must = [g for g in golds if g.label not in scheme.ignored and g.decision == MUST]
    may = [g for g in golds if g.label not in scheme.ignored and g.decision == MAY]
    ignored = [g for g in golds if g.label in scheme.ignored]
    if mode == "token" and level != "phi":
        inside = [p for p in inside if p.label not in scheme.ignored or chars(p) & union([*must, *may])]

    def units(spans: Sequence[Gold | Found], side: str) -> set[tuple[object, str]]:
        if mode == "char":
            return {(i, "") for i in union(spans)}
        tokens = [set(range(*match.span())) for match in re.finditer(r"\w+", text)]
        covered: set[tuple[object, str]] = set()
        for span in spans:
            kind = scheme.type(span.label, level) or f"{side} {span.label}"
            covered |= {(t, "" if level == "phi" else kind) for t, own in enumerate(tokens) if own & chars(span)}
        return covered

    wanted, masked = units(must, "gold"), units(inside, "found")
    may_places, ignored_places = ({place for place, _ in units(one, "gold")} for one in (may, ignored))
    hits = wanted & masked
    neutral = {unit for unit in masked - wanted if unit[0] in may_places}
    skipped = {unit for unit in masked - wanted - neutral if unit[0] in ignored_places}
    extra = len(strays) if mode == "token" else len(union(strays) - union(inside))
    total = len(masked - skipped) + extra
    return {
        "golds": len(wanted),
        "hits": len(hits),
        "misses": len(wanted - hits),
        "predictions": total,
        "credited": len(hits),
        "neutral": len(neutral),
        "false_alarms": total - len(hits) - len(neutral),
    }


def label_units(mode: str, text: str, golds: Sequence[Gold], found: Sequence[Found], label: str) -> dict[str, int]:
    """`char` and `token` at phi for one label, where nothing is ignored and no prediction is astray."""
    scheme = Scheme({}, {})
    own = [g for g in golds if g.label == label]
    mine = [p for p in found if p.label == label]
    of_golds = unit_numbers(mode, "phi", text, own, found, scheme)
    of_found = unit_numbers(mode, "phi", text, golds, mine, scheme)
    return {
        **{name: of_golds[name] for name in ("golds", "hits", "misses")},
        **{name: of_found[name] for name in ("predictions", "credited", "neutral", "false_alarms")},
    }


# ---- leaks -----------------------------------------------------------------------------------------------------------


def leak_numbers(text: str, golds: Sequence[Gold], found: Sequence[Found], scheme: Scheme) -> dict[str, int]:
    """The counts behind leak rates of one document that was answered."""
    masked = union([p for p in found if 0 <= p.start < p.end <= len(text)])
    kept = [g for g in golds if g.label not in scheme.ignored]
    must = union([g for g in kept if g.decision == MUST])
    listed = union([g for g in golds if g.label in scheme.ignored or g.decision != MUST_NOT])
    plain = set(range(len(text))) - listed
    tokens = [set(range(*match.span())) for match in re.finditer(r"\w+", text)]
    other = [token for token in tokens if not token & listed]
    alnum = {i for i in must if text[i].isalnum()}
    negative = all(g.label not in scheme.ignored and g.decision == MUST_NOT for g in golds)
    protected = [g for g in kept if g.decision == MUST_NOT]
    return {
        "must_chars": len(must),
        "must_chars_unmasked": len(must - masked),
        "must_alnum": len(alnum),
        "must_alnum_unmasked": len(alnum - masked),
        "non_phi_chars": len(plain),
        "non_phi_chars_masked": len(plain & masked),
        "non_phi_tokens": len(other),
        "non_phi_tokens_masked": sum(bool(token & masked) for token in other),
        "documents_with_must": int(any(g.decision == MUST for g in kept)),
        "documents_leaking": int(any(g.decision == MUST and solid(text, chars(g) - masked) for g in kept)),
        "negative_documents": int(negative),
        "negative_documents_intact": int(negative and not found),
        "protected": len(protected),
        "protected_untouched": sum(not chars(g) & masked for g in protected),
    }
