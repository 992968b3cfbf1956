"""Whole replies with many facts each, as chat models write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from workup.tasks.conversation.read.facts import Matcher
from workup.tasks.conversation.read.facts.probes import probes

FACTS = {probe.fact.id: probe.fact for probe in probes()}
REPLIES = yaml.safe_load(Path(__file__).with_name("replies.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("record", REPLIES, ids=range(len(REPLIES)))
def test_reply(record: dict[str, Any]) -> None:
    expected = record["expected"]
    judged = Matcher([FACTS[name] for name in expected]).judge(record["reply"])
    assert dict(zip(expected, (one.outcome for one in judged), strict=True)) == expected
