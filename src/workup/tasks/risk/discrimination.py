"""AUROC and AUPRC: does the model give those with the event the higher risks?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workup.metric import FEWEST_CLUSTERS, Family, Interval, Metric, PairedGap
from workup.scores import Scores
from workup.stats import rank
from workup.stats.arrays import Floats
from workup.stats.intervals import z_critical
from workup.tasks.risk.cards import CARDS

# DeLong's interval covers 81 to 90 % with 3 to 5 events (evidence/small_samples.json); Newcombe's holds its level.
# From 9 on the customary interval is kept; it covers about 91 to 93 % at 10 events and 94 % at 20.
FEW_OF_A_CLASS = 9
FEWEST_PAIRED = 10  # of a class, below which DeLong's variance of a difference is too small (same file)
CLUSTERED_DELONG = "clustered DeLong (Obuchowski), logit scale"
BOTH_CLASSES = "needs rows with and rows without the event"


def _ranks(scores: Scores, weights: Floats) -> Mapping[str, Floats]:
    ranking = scores.kept("ranking", lambda: rank.Ranking.of(scores["outcome"], scores["risk"]))
    return ranking.replicates(weights)._asdict()


def _auroc_interval(scores: Scores, level: float) -> Interval:
    clustered = not scores.independent
    found = rank.delong(
        scores["outcome"],
        scores["risk"],
        cluster=scores.patient if clustered else None,
        weight=scores.weight if clustered else None,
    )
    smallest = min(found.positive_units, found.negative_units)
    if smallest < 2:
        return Interval.refused("needs at least two patients with and two without the event", method="DeLong")
    if clustered and smallest < FEWEST_CLUSTERS:
        return Interval.refused(
            f"rows repeat within patients, and few of them ({smallest}) hold one of the outcomes; at least "
            f"{FEWEST_CLUSTERS} are needed",
            method=CLUSTERED_DELONG,
        )
    if smallest < FEW_OF_A_CLASS and not clustered:
        method, reason = "Newcombe method 5", f"fewer than {FEW_OF_A_CLASS} of one outcome"

        def ends(at: float) -> tuple[float, float]:
            return rank.newcombe_auc(found.auc, found.positive_units, found.negative_units, level=at)
    else:
        degenerate = found.auc in (0.0, 1.0) or not found.variance > 0
        method = "Newcombe method 5" if degenerate else CLUSTERED_DELONG if clustered else "DeLong, logit scale"
        reason = ""

        def ends(at: float) -> tuple[float, float]:
            return rank.auc_interval(found, level=at, clustered=clustered)

    return Interval(*ends(level), float(np.sqrt(found.variance)), method, reason=reason, ends=ends)


def _auroc_paired(first: Scores, second: Scores, level: float) -> PairedGap:
    """DeLong's test of two AUROCs on the same patients."""
    events = int(np.count_nonzero(first["outcome"] > 0))
    found = min(events, len(first) - events)
    if found < FEWEST_PAIRED:
        gap = rank.delong(second["outcome"], second["risk"]).auc - rank.delong(first["outcome"], first["risk"]).auc
        return PairedGap(gap, reason=f"insufficient: {found} rows of one outcome; at least {FEWEST_PAIRED} are needed")
    test = rank.delong_paired(first["outcome"], second["risk"], first["risk"])
    if not test.se > 0:
        return PairedGap(test.difference, reason="insufficient: the difference has no variance here")
    half = z_critical(level) * test.se
    return PairedGap(test.difference, test.difference - half, test.difference + half, test.p, "DeLong, paired")


def discrimination() -> list[Metric]:
    """AUROC and AUPRC, from one pass over the ranked rows."""
    family = Family(_ranks)
    return [
        Metric(
            name="auroc",
            compute=lambda s, w: _ranks(s, w)["auroc"],
            card=CARDS["auroc"],
            undefined=BOTH_CLASSES,
            interval=_auroc_interval,
            paired=_auroc_paired,
            events="outcome",
            family=family,
            parity=True,
        ),
        Metric(
            name="auprc",
            compute=lambda s, w: _ranks(s, w)["auprc"],
            card=CARDS["auprc"],
            undefined="needs rows with the event",
            events="outcome",
            family=family,
        ),
    ]
