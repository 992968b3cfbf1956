"""The metrics of span detectors over Scores whose rows are documents with counts; every interval is by patients.

Rows hold sums, so a share is a ratio of sums and its interval always Wilson's on the effective n."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from workup.metric import (
    FEWEST_CLUSTERS,
    Column,
    Interval,
    Metric,
    clustered_interval,
    clustered_rows,
    few_clusters,
    linear,
    ratio,
    share_interval,
)
from workup.scores import Scores
from workup.stats import intervals
from workup.stats.arrays import Floats
from workup.tasks.spans import columns
from workup.tasks.spans.cards import CARDS
from workup.tasks.spans.counting.counting_rules import FULL_MASK, Yardstick
from workup.tasks.spans.counting.matchup import PHI, Setting

# What a system that says nothing would be praised for.
_OF_SILENCE = ("over_redaction", "specificity_char", "specificity_token")


def share(name: str, top: Column, bottom: Column, **fields: Any) -> Metric:
    """A ratio of sums over documents. A row may hold many units, so units cluster even where patients do not repeat."""
    return ratio(name, top, bottom, card=CARDS[name], **fields)


def weighed(metric: Metric, top: Column, bottom: Column, units: Column) -> Metric:
    """A share of weights rather than of units: its sums are no counts, and a design effect over them says nothing.

    Weights are scaled so that they add up to the units they belong to: no interval is narrower than that of as many
    independent units.
    """

    def interval(scores: Scores, level: float) -> Interval:
        if not units(scores).sum():
            return Interval.refused(metric.undefined, status="undefined")
        scale = float(units(scores).sum()) / float(bottom(scores).sum())
        found = share_interval(top(scores) * scale, bottom(scores) * scale, scores, level)
        # Weights are no rows, so neither a design effect of theirs nor what so many clusters can show means anything.
        return replace(found, reason=few_clusters(found.clusters or 0)) if found.status == "ok" else found

    return replace(metric, counts=None, interval=interval)


# ---- recall, precision, F ------------------------------------------------------------------------------------------


def accuracy_metrics(
    setting: Setting, *, at: dict[str, str], name_of: Callable[[str], str] | None = None, caution: str = ""
) -> list[Metric]:
    """Recall, precision, F1 and F2 of one setting. `caution` says why no gate may rest on them, where that is so."""
    column = name_of or (lambda field: columns.of_setting(setting, field))

    def taken(field: str) -> Column:
        return lambda scores: scores[column(field)]

    def hits(scores: Scores) -> Floats:
        found = scores[column("hits")]
        if setting.mode.kind == "partial":  # half a point for a border that is not the gold's
            return np.asarray((found + scores[column("exact_hits")]) / 2)
        return found

    def credited(scores: Scores) -> Floats:
        if setting.mode.kind == "partial":
            return hits(scores)
        return scores[column("credited")]

    def judged(scores: Scores) -> Floats:
        return np.asarray(scores[column("predictions")] - scores[column("neutral")])

    found = [
        share(
            "recall",
            hits,
            taken("golds"),
            undefined="nothing in these documents must be masked",
            at=at,
            parity=True,
        ),
        share(
            "precision",
            credited,
            judged,
            undefined="the detector predicts nothing that counts",
            at=at,
        ),
        *(_f_measure(beta, (hits, taken("golds"), credited, judged), at) for beta in (1, 2)),
    ]
    return [_cautious(metric, caution) for metric in found] if caution else found


def _f_measure(beta: int, parts: tuple[Column, Column, Column, Column], at: dict[str, str]) -> Metric:
    hits, golds, credited, judged = parts

    def sums(scores: Scores) -> Floats:
        return np.column_stack([part(scores) for part in (hits, golds, credited, judged)])

    def finish(totals: Floats) -> Floats:
        """Harmonic mean; 0 where something is to be found and nothing is, whatever precision would be."""
        hit, gold, credit, judge = (totals[..., i] for i in range(4))
        with np.errstate(invalid="ignore", divide="ignore"):
            recall = np.where(gold > 0, hit / gold, np.nan)
            precision = np.where(judge > 0, credit / judge, 0.0)
            value = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
        nothing = (precision <= 0) | (recall <= 0)
        return np.asarray(np.where(np.isnan(recall), np.nan, np.where(nothing, 0.0, value)))

    def independent(totals: Floats) -> float:
        """The variance if each gold and each prediction stood for itself: like a share, F is never surer than that."""
        hit, gold, credit, judge = totals
        recall, precision = min(1.0, hit / gold), min(1.0, credit / judge)
        scale = (1 + beta**2) / (beta**2 * precision + recall) ** 2
        by_recall, by_precision = scale * beta**2 * precision**2, scale * recall**2
        return float(
            by_recall**2 * recall * (1 - recall) / gold + by_precision**2 * precision * (1 - precision) / judge
        )

    def interval(scores: Scores, level: float) -> Interval:
        return _linearised(sums(scores), finish, scores, level, floor=independent)

    return linear(
        f"f{beta}",
        sums,
        finish,
        card=CARDS[f"f{beta}"],
        undefined="nothing in these documents must be masked",
        interval=interval,
        at=at,
    )


def _linearised(
    sums: Floats,
    finish: Callable[[Floats], Floats],
    scores: Scores,
    level: float,
    *,
    floor: Callable[[Floats], float],
) -> Interval:
    """Clopper and Pearson's interval on the n that a share of this linearised variance over patients would have.

    Derivatives are taken by differences of the totals; the variance is that of patients' influences over `floor`, that
    of independent units. As for a share, an assumed design effect counts while few patients tell another, and no low
    end lies above what a perfect result of so many patients would have.
    """
    method = "exact on effective rows, linearised"
    weighted = sums * scores.base_weight[:, None]
    _, codes = np.unique(scores.patient, return_inverse=True)
    by_patient = np.column_stack([np.bincount(codes, weights=one) for one in weighted.T])
    counted = by_patient[(by_patient != 0).any(axis=1)]
    clusters = len(counted)
    if clusters < FEWEST_CLUSTERS:
        return Interval.refused(
            f"it rests on few patients ({clusters}); at least {FEWEST_CLUSTERS} are needed to see how they differ",
            method=method,
        )
    totals = counted.sum(axis=0)
    value = float(finish(totals))
    golds = clustered_rows(sums[:, 1], sums[:, 1], scores)
    effective, se, degrees = 0.0, 0.0, clusters - 1.0
    if 0 < value < 1:
        step = 1e-6 * np.maximum(totals, 1.0)
        slope = np.array([float(finish(totals + d) - finish(totals - d)) / (2 * d.sum()) for d in np.diag(step)])
        influence = counted @ slope  # sums to the derivative along the totals, which is 0 for a ratio
        influence -= influence.mean()
        alone, seen = floor(totals), clusters / (clusters - 1) * float(influence @ influence)
        alone = alone if alone > 0 else value * (1 - value) / golds.rows
        se, size = float(np.sqrt(max(alone, seen))), value * (1 - value) / alone
        weighed = intervals.weigh_design_effect(
            np.array([max(1.0, seen / alone)]),
            np.array([size * min(value, 1 - value)]),
            assumed=golds.assumed_effect,
            clusters=clusters,
        )
        effective, degrees = size / float(weighed.effect[0]), min(_degrees(influence), float(weighed.df[0]))

    def ends(at: float) -> tuple[float, float]:
        ceiling = golds.ceiling(at)
        if not 0 < value < 1:
            return (ceiling, 1.0) if value >= 1 else (0.0, 1 - ceiling)
        n = effective * float(intervals.korn_graubard(np.array([degrees]), level=at)[0])
        low, high = intervals.clopper_pearson(value * n, n, level=at)
        return min(low, ceiling), max(high, 1 - ceiling)

    return Interval(*ends(level), se, method, ends=ends)


def _degrees(influence: Floats) -> float:
    """Degrees of freedom of a variance that is a sum of squared influences, at most those of the patients.

    Satterthwaite's: twice the square of the variance over its own variance, read off the fourth powers. Where a few
    patients make up nearly all of it they are few, and with the quantile of all patients intervals are too short:
    simulated F2 at recall 0.95 of 20 patients that differ much covered 88 %.
    """
    squares = influence**2
    if not squares.any():
        return max(1.0, len(influence) - 1.0)  # all patients alike: the variance is that of independent units
    spread = len(influence) * float(squares @ squares) / float(squares.sum()) ** 2  # 3 for normal influences
    return max(1.0, min(len(influence) - 1.0, 2 * len(influence) / (spread - 1) if spread > 1 else np.inf))


def _cautious(metric: Metric, caution: str) -> Metric:
    """The value stays; its interval is withheld with the reason, so that no gate can rest on it."""
    return replace(metric, interval=lambda scores, level: Interval.refused(caution))


# ---- what leaks, what is destroyed ---------------------------------------------------------------------------------


def policy_metrics(
    policy: str, *, at: dict[str, str], patients_named: bool, caution: str = "", answered: bool = True
) -> list[Metric]:
    """Leaks, over-redaction and specificity under one policy."""

    def field(name: str) -> Column:
        return lambda scores: scores[columns.of_policy(policy, name)]

    def gap(total: str, part: str) -> Column:
        return lambda scores: scores[columns.of_policy(policy, total)] - scores[columns.of_policy(policy, part)]

    def one(name: str, top: Column, bottom: Column, undefined: str, **fields: Any) -> Metric:
        return share(name, top, bottom, undefined=undefined, at=at, **fields)

    no_golds, no_others = "nothing in these documents must be masked", "every character is an identifier"
    leaking, holding = field("documents_leaking"), field("documents_with_must")
    severe, severe_hit = (field(name) for name in columns.SEVERITY)
    told, told_hit = (field(name) for name in columns.INFORMATION)
    whole = Setting(FULL_MASK, PHI, policy)
    golds, predictions = (_taken(columns.of_setting(whole, name)) for name in ("golds", "predictions"))
    found = [
        one(
            "leak_rate_char",
            field("must_chars_unmasked"),
            field("must_chars"),
            no_golds,
        ),
        one(
            "leak_rate_alnum",
            field("must_alnum_unmasked"),
            field("must_alnum"),
            no_golds,
        ),
        replace(
            one(
                "leak_rate_document",
                leaking,
                holding,
                no_golds,
            ),
            interval=lambda scores, level: _leak_interval(leaking(scores), holding(scores), scores, level),
        ),
        _leak_rate_patient(leaking, holding, at, patients_named),
        *_entity_recall(policy, at),
        one(
            "over_redaction",
            field("non_phi_chars_masked"),
            field("non_phi_chars"),
            no_others,
        ),
        one(
            "specificity_char",
            gap("non_phi_chars", "non_phi_chars_masked"),
            field("non_phi_chars"),
            no_others,
        ),
        one(
            "specificity_token",
            gap("non_phi_tokens", "non_phi_tokens_masked"),
            field("non_phi_tokens"),
            "every word is an identifier",
        ),
        one(
            "specificity_negative_document",
            field("negative_documents_intact"),
            field("negative_documents"),
            "every document holds an identifier",
        ),
        one(
            "specificity_protected_term",
            field("protected_untouched"),
            field("protected"),
            "no gold is marked as one that must stay",
        ),
        weighed(
            one(
                "severity_recall",
                severe_hit,
                severe,
                no_golds,
            ),
            severe_hit,
            severe,
            golds,
        ),
        weighed(
            one(
                "information_precision",
                told_hit,
                told,
                "no word is masked, or the corpus is too large to weigh its words",
            ),
            told_hit,
            told,
            predictions,
        ),
    ]
    if not answered:
        found = [_cautious(m, "the system answered no document") if m.name in _OF_SILENCE else m for m in found]
    return [_cautious(metric, caution) for metric in found] if caution else found


def _taken(column: str) -> Column:
    return lambda scores: scores[column]


def _entity_recall(policy: str, at: dict[str, str]) -> list[Metric]:
    def of(field: str, kind: str) -> Column:
        return lambda scores: scores[columns.of_entities(policy, field, kind)]

    return [
        share(
            "entity_recall",
            of("entities_hit", kind),
            of("entities", kind),
            undefined=f"no entity is marked as {kind}" if kind else "no entity must be masked",
            at={**at, **({"identifier": kind} if kind else {})},
        )
        for kind in columns.ENTITY_KINDS
    ]


def _leak_interval(leaking: Floats, holding: Floats, scores: Scores, level: float) -> Interval:
    """That of a share; without a single leak in independent documents the exact one-sided bound.

    Where documents repeat within patients, none and one leak are judged by one rule, so that the bound of none never
    lies above that of one.
    """
    found = clustered_rows(leaking, holding, scores)
    if found.independent and found.share == 0:
        return no_leak_bound(found.clusters, level)
    return clustered_interval(found, level)


def no_leak_bound(patients: int, level: float) -> Interval:
    """Nothing leaked in so many patients: Clopper and Pearson's one-sided upper bound.

    >>> round(no_leak_bound(299, 0.95).high, 5)
    0.00997
    """

    def ends(at: float) -> tuple[float, float]:
        return 0.0, 1 - (1 - at) ** (1 / patients)

    reason = f"no leak in {patients} patients: the upper end is one-sided"
    return Interval(*ends(level), 0.0, "exact one-sided (Clopper-Pearson)", reason=reason, ends=ends)


def _leak_rate_patient(leaking: Column, holding: Column, at: dict[str, str], patients_named: bool) -> Metric:
    """A patient leaks where any document does. Rows of a patient are taken together before anything is counted."""

    def sums(scores: Scores) -> tuple[Floats, Floats, Floats, Any]:
        def make() -> tuple[Floats, Floats, Floats, Any]:
            units, first, codes = np.unique(scores.patient, return_index=True, return_inverse=True)
            leaks, holds = (
                (np.bincount(codes, weights=part(scores), minlength=units.size) > 0).astype(np.float64)
                for part in (leaking, holding)
            )
            return leaks, holds, scores.base_weight[first], first

        return scores.kept(f"leaks by patient {sorted(at.items())}", make)

    def compute(scores: Scores, weights: Floats) -> Floats:
        leaks, holds, _, first = sums(scores)
        chosen = weights[:, first]  # a replicate weighs all rows of a patient alike
        with np.errstate(invalid="ignore", divide="ignore"):
            total = chosen @ holds
            return np.asarray(np.where(patients_named & (total > 0), chosen @ leaks / total, np.nan))

    def interval(scores: Scores, level: float) -> Interval:
        leaks, holds, weight, _ = sums(scores)
        patients = Scores.of({"one": holds}, weight=None if scores.weight is None else weight)
        return _leak_interval(leaks, holds, patients, level)

    def counts(scores: Scores) -> tuple[float, float]:
        leaks, holds, weight, _ = sums(scores)
        return float(leaks @ weight), float(holds @ weight)

    return Metric(
        name="leak_rate_patient",
        compute=compute,
        card=CARDS["leak_rate_patient"],
        at=at,
        undefined="nothing in these documents must be masked"
        if patients_named
        else "the corpus names no patients; leak_rate_document counts documents",
        interval=interval,
        counts=counts,
    )


# ---- all of them ---------------------------------------------------------------------------------------------------


def span_metrics(
    stick: Yardstick, *, patients_named: bool, cautions: Callable[[Setting], str], answered: bool = True
) -> list[Metric]:
    """Every metric of the spans task, in the order of the report."""
    found: list[Metric] = []
    for setting in stick.settings:
        found += accuracy_metrics(setting, at=stick.key(setting), caution=cautions(setting))
    for setting in stick.full_mask:
        key = stick.policy_key(setting.policy)
        found += policy_metrics(
            setting.policy, at=key, patients_named=patients_named, caution=cautions(setting), answered=answered
        )
    return found
