"""What each metric of risk prediction is, in the order of the report: the one place for its words and its goal."""

from __future__ import annotations

from workup.metric import Card, Concern

_OVERALL, _DECISIONS = "overall", "decisions"

CARDS = {
    "auroc": Card(
        title="AUROC",
        describe="chance that a patient with the event is given a higher risk than one without",
        scale="logit",
        section=_OVERALL,
        shown=("headline", "groups", "gaps", "cards", "latest", "forests"),
        concern=Concern(medium=0.05, high=0.10, in_group=0.08),
    ),
    "auprc": Card(
        title="AUPRC",
        describe="average precision: mean PPV over the events as the threshold falls; compare with the prevalence",
        scale="logit",
        section=_OVERALL,
        shown=("headline",),
    ),
    "calibration_slope": Card(
        title="calibration slope",
        describe="slope of the outcome on the log odds of the risk, unpenalised; below 1 risks are too extreme",
        better="target",
        target=1.0,
        section=_OVERALL,
        shown=("headline", "groups", "gaps", "cards", "latest", "forests"),
        concern=Concern(medium=0.2, high=0.4, in_group=0.2),
    ),
    "calibration_in_the_large": Card(
        title="calibration in the large",
        describe="intercept with the log odds as offset; above 0 risks are too low",
        better="target",
        target=0.0,
        section=_OVERALL,
        shown=("headline", "groups"),
    ),
    "oe_ratio": Card(
        title="observed / expected",
        describe="events observed over events expected; above 1 risks are too low",
        better="target",
        target=1.0,
        scale="log",
        section=_OVERALL,
        shown=("headline", "groups", "cards", "latest", "forests"),
    ),
    "brier": Card(
        title="Brier score",
        describe="mean squared error of the risk",
        better="lower",
        section=_OVERALL,
        shown=("headline", "groups"),
    ),
    "scaled_brier": Card(
        title="scaled Brier score",
        describe="share of the Brier score of the prevalence alone that the model removes; below 0 it is worse",
        section=_OVERALL,
    ),
    "nagelkerke_r2": Card(
        title="Nagelkerke's R²",
        describe="how far the risks as given raise the likelihood above that of the prevalence alone, of what they "
        "could raise it; below 0 they are worse than the prevalence",
        section=_OVERALL,
    ),
    # The distances rest on a curve through all patients of the study, so sites cannot be pooled on them.
    "ici": Card(
        title="ICI",
        describe="mean absolute distance between the calibration curve and the risk",
        better="lower",
        section=_OVERALL,
        pooled=False,
    ),
    "e50": Card(
        title="E50",
        describe="median absolute distance between the calibration curve and the risk",
        better="lower",
        section=_OVERALL,
        pooled=False,
    ),
    "e90": Card(
        title="E90",
        describe="90th percentile of the distance between the calibration curve and the risk",
        better="lower",
        section=_OVERALL,
        pooled=False,
    ),
    "emax": Card(
        title="Emax",
        describe="largest distance between the calibration curve and the risk",
        better="lower",
        section=_OVERALL,
        pooled=False,
    ),
    "ece": Card(
        title="ECE",
        describe="mean gap between observed and predicted over 10 bins; biased upwards, shown on request",
        better="lower",
        section=_OVERALL,
        pooled=False,
    ),
    "sensitivity": Card(
        title="sensitivity",
        describe="share of events that are flagged",
        scale="logit",
        unit="share",
        section=_DECISIONS,
        shown=("headline", "groups", "gaps", "cards", "forests"),
    ),
    "specificity": Card(
        title="specificity",
        describe="share of non-events left alone",
        scale="logit",
        unit="share",
        section=_DECISIONS,
        shown=("headline", "groups", "gaps", "forests"),
    ),
    "ppv": Card(
        title="PPV",
        describe="share of flagged rows with the event",
        scale="logit",
        unit="share",
        section=_DECISIONS,
        shown=("headline", "groups"),
    ),
    "npv": Card(
        title="NPV",
        describe="share of unflagged rows without the event",
        scale="logit",
        unit="share",
        section=_DECISIONS,
        shown=("headline", "groups"),
    ),
    "alert_rate": Card(
        title="alert rate",
        describe="share of rows flagged",
        better="neither",
        scale="logit",
        unit="share",
        section=_DECISIONS,
        shown=("parity",),
    ),
    "net_benefit": Card(
        title="net benefit",
        describe="true positives per row, less false positives at the threshold's own exchange rate",
        section=_DECISIONS,
    ),
    "accuracy": Card(
        title="accuracy",
        describe="share classified rightly",
        scale="logit",
        unit="share",
        section=_DECISIONS,
    ),
    "f1": Card(title="F1", describe="harmonic mean of sensitivity and PPV", section=_DECISIONS),
}
