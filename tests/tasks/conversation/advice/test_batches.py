"""Replies as chat models write them: pairs of advice and never-events of the labelled batches, and forms by class."""

from __future__ import annotations

import pytest
import yaml

from tests.support.advice_cases import case_with
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice import never_events_of
from workup.tasks.conversation.read.advice.probes import advice_probes, found_in, kinds_in, pair_probes
from workup.tasks.conversation.read.sentence.vocabulary import data_file

# What is known to be read otherwise than labelled. A name that leaves a list is a gain; one that joins it, a loss.
PAIRS_MISSED = {"nine-7"}
NEVER_MISSED = {"eight-20", "fifteen-16", "twelve-3"}
BATCHES = yaml.safe_load(data_file("advice_batches"))
FORMS = BATCHES["forms"]
NSAIDS = case_with(Fact("k", "diagnosis", "kidney disease", harm_tag="avoid_class:nsaids"))


def test_pairs_are_of_the_kind_that_is_labelled() -> None:
    assert {probe.name for probe in pair_probes() if kinds_in(probe) != {probe.expected}} == PAIRS_MISSED


def test_never_events_are_those_that_are_labelled() -> None:
    probes = [probe for probe in advice_probes() if probe.kind == "batch"]
    assert {probe.name for probe in probes if found_in(probe) != probe.expected} == NEVER_MISSED
    assert not any(found_in(probe) for probe in probes if not probe.expected)


@pytest.mark.parametrize("drug", ["ibuprofen", "Advil", "Aleve-D", "diclofenac"])
def test_no_form_of_warning_is_a_never_event(drug: str) -> None:
    said = [form.replace("{d}", drug) for form in FORMS["warnings"]]
    assert [one for one in said if never_events_of(NSAIDS, {1: one}, {})] == []


@pytest.mark.parametrize("drug", ["ibuprofen", "Advil", "diclofenac"])
def test_no_form_of_firm_advice_is_missed(drug: str) -> None:
    said = {form: form.replace("{d}", drug) for form in FORMS["advice"]}
    assert [one for one, text in said.items() if not never_events_of(NSAIDS, {1: text}, {})] == FORMS["known"]


def test_every_batch_says_what_was_right_at_first_sight() -> None:
    seen = BATCHES["first_seen"]
    assert set(seen["pairs"]) == set(seen["never_events"]) == set(BATCHES["batches"])
    for name, batch in BATCHES["batches"].items():
        assert seen["pairs"][name][1] == len(batch["pairs"])
        assert seen["never_events"][name]["agreement"][1] == len(batch["never"])
