"""Names of the columns of span Scores: what is counted in every setting, under every policy, and beside both."""

from __future__ import annotations

from workup.tasks.spans.counting.matchup import Setting

OF_SETTING = ("golds", "hits", "exact_hits", "predictions", "credited", "neutral")
OF_ENTITIES = ("entities", "entities_hit")
ENTITY_KINDS = ("", "direct", "quasi")  # all entities together, and those whose golds say so
SEVERITY = ("severity", "severity_hit")  # weights in hundredths, so that counts stay whole
INFORMATION = ("information", "information_credited")
OF_TERMS = ("terms", "terms_kept")  # clinical terms, where a study asks what masking does to them


def of_setting(setting: Setting, field: str) -> str:
    """A count of one setting."""
    return f"{setting.mode.name}|{setting.level}|{setting.policy}|{field}"


def of_policy(policy: str, field: str) -> str:
    """A count under one policy, whatever the mode."""
    return f"{policy}|{field}"


def of_entities(policy: str, field: str, kind: str) -> str:
    """A count of entities of one kind."""
    return of_policy(policy, f"{field}:{kind}" if kind else field)


def of_terms(policy: str, field: str, category: str) -> str:
    """A count of clinical terms of one category."""
    return of_policy(policy, f"{field}:{category}")
