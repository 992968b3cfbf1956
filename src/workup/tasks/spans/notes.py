"""What a reader must know of a corpus and its predictions before the first number, and what no gate may rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from workup.documents.labels import CODE, SCHEME, leaves_of
from workup.errors import visible
from workup.tasks.spans import columns
from workup.tasks.spans.counting.accumulator import Ledger
from workup.tasks.spans.counting.counting_rules import FULL_MASK
from workup.tasks.spans.counting.matchup import PHI, Setting
from workup.tasks.spans.counting.scoring import SpanScores

_MOST = 12  # labels listed before the rest are counted


def cautions(ledger: Ledger) -> Callable[[Setting], str]:
    """Why a number in a setting must not decide anything, or nothing."""
    unmapped = [*ledger.unmapped_golds, *ledger.unmapped_found]
    emits_leaves = any(name in SCHEME for name in ledger.found_labels)

    def caution(setting: Setting) -> str:
        policy = ledger.stick.policy(setting.policy)
        if setting.level == PHI:
            if ledger.unmapped_golds and policy.unmapped == "may":
                return f"{listed(ledger.unmapped_golds)}: labels of golds without a canonical name are counted as may"
            return ""
        if unmapped:
            both = Counter(ledger.unmapped_golds) + Counter(ledger.unmapped_found)
            return f"it rests on labels without a canonical name: {listed(both)}"
        wanted = [name for name, numbers in ledger.by_label.get(setting, {}).items() if numbers[0] > 0]
        if setting.level.startswith("leaf") and wanted and not any(name in SCHEME for name in wanted):
            return "every gold to be masked has a coarse label (a branch), so leaves cannot be compared"
        if setting.level.startswith("leaf") and ledger.found_labels and not emits_leaves:
            return "every prediction has a coarse label (a branch), so leaves cannot be compared"
        return ""

    return caution


def listed(labels: Counter[str]) -> str:
    """Labels with how often each occurs, the most frequent first."""
    ordered = sorted(labels.items(), key=lambda item: (-item[1], item[0]))
    shown = ", ".join(f"{visible(label[:40])} ({times:,})" for label, times in ordered[:_MOST])
    return shown + (f" and {len(ordered) - _MOST} more" if len(ordered) > _MOST else "")


def notes_of(scores: SpanScores, study: Any) -> list[str]:
    """Sentences for the head of the report."""
    ledger, facts = scores.ledger, scores.ledger.facts
    said = []
    if facts["documents_not_answered"]:
        said.append(
            f"The system gave no answer on {facts['documents_not_answered']:,} of {facts['documents']:,} documents: "
            "their golds count as missed, and none of them as left intact."
        )
    if ledger.strays["unknown_document"]:
        said.append(
            f"{ledger.strays['unknown_document']:,} predictions are of {facts['unknown_documents']:,} documents that "
            "the corpus does not hold; each counts as a false alarm, on one row of their own."
        )
    if ledger.strays["outside_text"]:
        said.append(f"{ledger.strays['outside_text']:,} predictions lie outside their text; each is a false alarm.")
    for labels, whose in ((ledger.unmapped_golds, "golds"), (ledger.unmapped_found, "predictions")):
        if labels:
            said.append(
                f"Labels of {whose} without a canonical name: {listed(labels)}. They are compared at phi alone. "
                "To fix: name a mapping ('labels'); 'workup corpus describe --mapping' writes one to fill in."
            )
    coarse = facts["coarse_golds"]
    if coarse and coarse < facts["golds"]:
        said.append(f"{coarse:,} of {facts['golds']:,} golds have a coarse label and are missed at leaf by definition.")
    if facts["language_uncertain"]:
        said.append(
            f"{facts['language_uncertain']:,} of {facts['documents']:,} documents do not look English, or hold a "
            "passage that does not (language: uncertain); they are scored like all others."
        )
    said += _of_design(scores, study)
    return said


def _of_design(scores: SpanScores, study: Any) -> list[str]:
    ledger, facts = scores.ledger, scores.ledger.facts
    said = []
    if not scores.patients_named:
        said.append("No document names a patient, so each document counts as a patient of its own.")
    if facts["readings"] > facts["documents"]:
        said.append(
            f"{facts['documents']:,} documents were read by several annotators: each is scored against every annotator "
            "and the counts are added (micro-average)."
        )
    elif study.corpus.annotators != "each":
        said.append(f"Golds of several annotators were made one by {study.corpus.annotators}.")
    if study.corpus.trim:
        said.append("Leading titles were cut from every gold, alike for all systems (trim: titles).")
    seen = {*ledger.gold_labels, *ledger.found_labels}
    unseen = [name for name in study.ignore if name not in seen and not _below(name, seen)]
    if unseen:
        said.append(f"Labels to ignore that do not occur: {', '.join(visible(name[:40]) for name in unseen)}.")
    if ledger.rows.folded:
        said.append(
            "The corpus is large: documents of one patient, site, time and group were added up before anything else, "
            "so the rows counted here are fewer than its documents."
        )
    varying = straddled(scores)
    if scores.patients_named and varying and set(study.lenses) - {"internal"}:
        names = ", ".join(visible(name[:40]) for name in varying)
        said.append(
            f"Notes of one patient differ in {names}, so leak_rate_patient is shown for everyone and not by group, "
            "site or window."
        )
    if any(setting.mode.published for setting in ledger.stick.settings):
        said.append(
            "Modes named 'published' repeat a published rule with its flaws, for comparison; no gate takes them."
        )
    return said


def straddled(scores: SpanScores) -> tuple[str, ...]:
    """Groups that vary among the notes of one patient. Where some do, patients with fewer notes in a level look safer
    there for that alone, so leak_rate_patient is not compared between groups."""
    found = []
    for name, levels in scores.groups.items():
        first = np.zeros(int(scores.patient.max(initial=-1)) + 1, dtype=np.int64)
        first[scores.patient] = levels.codes
        if np.any(first[scores.patient] != levels.codes):
            found.append(name)
    return tuple(found)


def _below(name: str, seen: set[str]) -> bool:
    return name in CODE and any(leaf in seen for leaf in leaves_of(name))


def summary(scores: SpanScores) -> dict[str, int]:
    """Counts of the corpus for the head of a report."""
    ledger, facts = scores.ledger, scores.ledger.facts
    policy = ledger.stick.primary_policy
    negative = scores[columns.of_policy(policy, "negative_documents")]
    return {
        "documents": facts["documents"],
        "readings": facts["readings"],
        "characters": facts["characters"],
        "golds": facts["golds"],
        "identifiers": int(np.sum(scores[columns.of_setting(Setting(FULL_MASK, PHI, policy), "golds")])),
        "labels": len(ledger.gold_labels),
        "documents_without_golds": facts["documents_without_golds"],
        "negative_documents": int(np.sum(negative)),
        "language_uncertain": facts["language_uncertain"],
        "not_answered": facts["documents_not_answered"],
        "predictions": sum(ledger.found_labels.values()),
        "outside_text": ledger.strays["outside_text"],
        "unknown_document": ledger.strays["unknown_document"],
    }
