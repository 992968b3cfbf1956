"""Real dialogues with notes by professionals (ACI-Bench, MTS-Dialog): what the notes keep, lose and turn round."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.places import DATA
from workup.tasks.conversation.cases.dialogues import Converted, convert_dialogues
from workup.tasks.conversation.read.content import support_of
from workup.tasks.conversation.read.facts import Judged, Matcher

FILES = {
    "aci valid": ("aci_bench", DATA / "aci_bench" / "valid.csv"),
    "aci train": ("aci_bench", DATA / "aci_bench" / "train.csv"),
    "mts valid": ("mts_dialog", DATA / "mts_dialog" / "MTS-Dialog-ValidationSet.csv"),
    "mts train": ("mts_dialog", DATA / "mts_dialog" / "MTS-Dialog-TrainingSet.csv"),
}
# dialogues, those that assert a fact, lowest n of facts; bounds of recall, reversal and precision.
EXPECTED = {
    "aci valid": (20, 20, 150, (0.70, 0.90), (0.01, 0.10), (0.35, 0.65)),
    "aci train": (67, 66, 550, (0.65, 0.85), (0.01, 0.09), (0.35, 0.65)),
    "mts valid": (100, 59, 180, (0.65, 0.85), (0.01, 0.08), (0.55, 0.85)),
    "mts train": (1201, 745, 2200, (0.55, 0.75), (0.01, 0.08), (0.50, 0.80)),
}


def converted(name: str) -> Converted:
    """The dialogues of a file; the test is left out, with its reason, where the file is not there."""
    format, path = FILES[name]
    if not path.is_file():
        pytest.skip(f"{path.name} of {format} is not kept beside the project")
    return convert_dialogues(path, format=format)


def judged(of: Converted) -> dict[str, list[tuple[str, str, Judged]]]:
    """Concept, status and outcome of every fact, by dialogue."""
    notes = {said.case: said.probe.reply for said in of.transcripts.said if said.probe is not None}
    return {
        case.id: [
            (fact.concept, fact.status, outcome)
            for fact, outcome in zip(case.facts, Matcher(case.facts).judge(notes[case.id], turn=1), strict=True)
        ]
        for case in of.cases
    }


@pytest.mark.real_data
@pytest.mark.parametrize("name", EXPECTED)
def test_recall_precision_and_reversal_of_the_notes(name: str) -> None:
    dialogues, kept, least, recall, reversal, precision = EXPECTED[name]
    found = converted(name)
    # Dialogues come as they are in the file; how many assert a fact moves a little with the vocabularies.
    assert found.counts.dialogues == dialogues and abs(found.counts.kept - kept) <= 0.05 * kept
    outcomes = Counter(outcome.outcome for rows in judged(found).values() for _, _, outcome in rows)
    n = sum(outcomes.values())
    assert n == found.counts.facts >= least and found.counts.terms > n
    assert set(outcomes) <= {"correct", "reversed", "wrong_value", "omitted"}
    assert recall[0] < outcomes["correct"] / n < recall[1], outcomes
    assert reversal[0] < outcomes["reversed"] / n < reversal[1], outcomes
    assert outcomes["wrong_value"] / n < 0.03
    notes = {said.case: said.probe.reply for said in found.transcripts.said if said.probe is not None}
    supports = [support_of(notes[case.id], case, 1, case.facts) for case in found.cases]
    asserted = sum(one.entities for one in supports)
    assert asserted > least
    assert precision[0] < sum(one.in_critical for one in supports) / asserted < precision[1]
    assert sum(one.ungrounded for one in supports) / asserted < 0.30


@pytest.mark.real_data
def test_three_dialogues_read_by_hand() -> None:
    """Read in the files: what the patient said, and what became of it in the note."""
    rows = judged(converted("mts valid"))
    shown = {id: {(name, status, one.outcome) for name, status, one in rows[id]} for id in ("mts-1", "mts-4", "mts-20")}
    # Asked and denied one by one; the note denies each. The "no" to a cream for the rash leaves the rash as it is.
    assert shown["mts-1"] == {
        ("rash", "present", "correct"),
        ("dyspnea", "absent", "correct"),
        ("wheeze", "absent", "correct"),
        ("swelling", "absent", "correct"),
        ("nausea", "absent", "correct"),
        ("headache", "absent", "correct"),
    }
    # The patient says no to confusion and to hallucinations; the note has both as the complaint.
    assert ("confusion", "absent", "reversed") in shown["mts-4"]
    assert {outcome for _, _, outcome in shown["mts-4"]} == {"reversed"}
    # "She suffers from bipolar disorder and anxiety. She's also anemic and not on any iron supplements."
    assert shown["mts-20"] == {
        ("bipolar disorder", "present", "correct"),
        ("anxiety", "present", "correct"),
        ("anemia", "present", "correct"),
        ("iron", "absent", "omitted"),
    }


@pytest.mark.real_data
def test_a_long_dialogue_read_by_hand() -> None:
    rows = judged(converted("aci valid"))["D2N071"]
    assert {(name, status, one.outcome) for name, status, one in rows} == {
        ("depression", "present", "correct"),
        ("hypertension", "present", "correct"),
        ("fluoxetine", "present", "correct"),  # prozac 20 milligrams a day; the note: Prozac 20 mg a day
        ("amlodipine", "present", "correct"),  # "we have you on the norvasc"
        ("nasal congestion", "present", "correct"),
        ("dyspnea", "present", "correct"),  # "you also have some shortness of breath with exertion. - correct."
        ("systolic ejection murmur", "present", "correct"),
        ("leg edema", "absent", "omitted"),  # "you don't have any lower extremity edema"; not in the note
    }
