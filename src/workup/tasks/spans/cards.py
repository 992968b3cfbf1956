"""What each metric of span detectors is, in the order of the report: the one place for its words and its goal."""

from __future__ import annotations

from workup.metric import Card, Concern

CARDS = {
    "recall": Card(
        title="sensitivity (recall)",
        describe="of what must be masked, the share that was found",
        scale="logit",
        unit="share",
        shown=("headline", "groups", "gaps", "forests"),
        concern=Concern(medium=0.02, high=0.05, in_group=0.05),
    ),
    "precision": Card(
        title="precision",
        describe="of what was masked, the share that had to be",
        scale="logit",
        unit="share",
        shown=("headline", "groups"),
    ),
    "f1": Card(
        title="F1",
        describe="recall and precision in one figure",
        scale="logit",
        unit="share",
        shown=("headline",),
    ),
    "f2": Card(
        title="F2",
        describe="the same, with recall weighing more",
        scale="logit",
        unit="share",
    ),
    "leak_rate_char": Card(
        title="leak rate, characters",
        describe="characters that must be masked and stayed visible",
        better="lower",
        scale="logit",
        unit="share",
        shown=("headline", "groups"),
    ),
    "leak_rate_alnum": Card(
        title="leak rate, letters and digits",
        describe="the same of letters and digits alone",
        better="lower",
        scale="logit",
        unit="share",
    ),
    "leak_rate_document": Card(
        title="leak rate, documents",
        describe="documents in which anything that must be masked stayed visible",
        better="lower",
        scale="logit",
        unit="share",
        shown=("headline", "groups", "gaps", "forests"),
        concern=Concern(medium=0.05, high=0.1, in_group=0.1),
    ),
    "leak_rate_patient": Card(
        title="leak rate, patients",
        describe="patients with such a document",
        better="lower",
        scale="logit",
        unit="share",
        shown=("headline",),
    ),
    "entity_recall": Card(
        title="entity recall",
        describe="persons, places and other entities with every mention masked whole",
        scale="logit",
        unit="share",
    ),
    "over_redaction": Card(
        title="over-redaction",
        describe="characters that are no identifier and were masked all the same",
        better="lower",
        scale="logit",
        unit="share",
        shown=("headline", "groups", "forests"),
    ),
    "specificity_char": Card(
        title="specificity, characters",
        describe="characters that are no identifier and stayed visible",
        scale="logit",
        unit="share",
    ),
    "specificity_token": Card(
        title="specificity, words",
        describe="words that are no identifier and stayed visible",
        scale="logit",
        unit="share",
    ),
    "specificity_negative_document": Card(
        title="specificity, documents without identifiers",
        describe="such documents left intact",
        scale="logit",
        unit="share",
        shown=("groups",),
    ),
    "specificity_protected_term": Card(
        title="specificity, protected terms",
        describe="clinical terms that must stay and did",
        scale="logit",
        unit="share",
    ),
    "severity_recall": Card(
        title="severity-weighted recall",
        describe="masked whole, each identifier weighed by the harm of its leak",
        scale="logit",
        unit="share",
    ),
    "information_precision": Card(
        title="information precision",
        describe="precision, each word weighed by how rare it is",
        scale="logit",
        unit="share",
    ),
    "retention": Card(
        title="retention of clinical terms",
        describe="clinical terms found again after masking",
        scale="logit",
        unit="share",
    ),
}
