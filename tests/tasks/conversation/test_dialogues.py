"""Recorded dialogues as cases: what is asserted becomes a fact, what is only asked does not, and nothing is made up."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from workup.errors import InputError
from workup.tasks.conversation.cases.dialogues import convert_dialogues, read_dialogues
from workup.tasks.conversation.read.facts import Matcher


def written(folder: Path, *dialogues: str, note: str = "Nothing.") -> Path:
    """A file in the form of MTS-Dialog."""
    path = folder / "dialogues.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["ID", "section_header", "section_text", "dialogue"])
        rows.writerows([number, "ROS", note, dialogue] for number, dialogue in enumerate(dialogues))
    return path


def facts(folder: Path, dialogue: str) -> dict[str, str]:
    """Status of the facts that a dialogue asserts; none where it asserts nothing."""
    # A second dialogue keeps the file from being one without any fact.
    converted = convert_dialogues(written(folder, dialogue, "Patient: I have gout."), format="mts_dialog")
    return {fact.concept: fact.status for case in converted.cases if case.id == "mts-0" for fact in case.facts}


@pytest.mark.parametrize(
    ("dialogue", "asserted"),
    [
        ("Doctor: Any fever?\nPatient: No.", {"fever": "absent"}),
        ("Doctor: Any fever?\nPatient: Um, well, no.", {"fever": "absent"}),
        ("Doctor: Any fever?\nPatient: Nope, nothing like that.", {"fever": "absent"}),
        ("Doctor: Do you have asthma?\nPatient: I don't.", {"asthma": "absent"}),
        ("Doctor: Do you have asthma?\nPatient: Yeah, since school.", {"asthma": "present"}),
        ("Doctor: Do you have asthma?\nPatient: I don't know.", {}),
        ("Doctor: Do you have asthma?\nPatient: Not really.", {}),
        ("Doctor: Do you have asthma?\nPatient: My back is killing me.", {}),
        ("Doctor: Any fever? Any cough?\nPatient: No.", {"cough": "absent"}),  # only the last one was answered
        ("Patient: My mother had a stroke.", {"stroke": "family"}),
        ("Patient: I have asthma. I never had asthma.", {}),  # both ways
        ("Patient: It might be gout.", {"gout": "uncertain"}),
        ("Doctor: If you get a fever, call us.\nPatient: Okay.", {}),
        ("Doctor: I will order an echocardiogram.", {}),  # done, read or to come: no time is stated
        ("Patient: I had an appendectomy in the past.", {"appendectomy": "historical"}),
        ("Patient: No. Doctor: Any fever? Patient: No.", {"fever": "absent"}),  # speakers within one line
        ("Patient: I take warfarin 5 mg daily.", {"warfarin": "present"}),
        (
            "Guest_family: He had jaundice.\nGuest_clinician: He has asthma.",
            {"jaundice": "present", "asthma": "present"},
        ),
    ],
)
def test_facts_are_what_is_asserted(tmp_path: Path, dialogue: str, asserted: dict[str, str]) -> None:
    assert facts(tmp_path, dialogue) == asserted


def test_questions_without_their_sign_are_questions(tmp_path: Path) -> None:
    dialogue = "Doctor: okay so your ankle looks better have you had any fever or chills\nPatient: no just tired"
    assert facts(tmp_path, dialogue) == {"fever": "absent", "chills": "absent", "fatigue": "present"}
    assert facts(tmp_path, "Doctor: we have you on warfarin\nPatient: right") == {"warfarin": "present"}


def test_speech_without_a_stop_is_not_read_and_counted(tmp_path: Path) -> None:
    running_on = "so i look at the knee " * 9 + "there is no redness i can see an effusion"
    path = written(
        tmp_path, f"Doctor: Any fever?\nPatient: {running_on}\nDoctor: Good.\nPatient: No.", "Patient: I have gout."
    )
    converted = convert_dialogues(path, format="mts_dialog")
    # The long answer keeps its place: the later "no" answers nothing.
    assert [case.id for case in converted.cases] == ["mts-1"] and converted.counts.unread == 1
    assert "1 sentences" in converted.counts.telling() and "1 of 2 dialogues" in converted.counts.telling()


@pytest.mark.parametrize(
    "dialogue", ["", "   ", "Patient:", "Patient: ...", "Doctor: okay okay .", "[patient] ?!", "[x] I have gout."]
)
def test_a_dialogue_of_nothing_asserts_nothing(tmp_path: Path, dialogue: str) -> None:
    assert facts(tmp_path, dialogue) == {}


def test_the_note_is_the_one_probe_of_the_one_turn(tmp_path: Path) -> None:
    path = written(tmp_path, "Doctor: Any fever?\nPatient: No.", note="Denies fever.")
    cases, transcripts = read_dialogues(path, format="mts_dialog")
    (said,) = transcripts.said
    assert (said.case, said.turn, said.arm, said.reply) == ("mts-0", 1, "live", None)
    assert said.probe is not None and (said.probe.kind, said.probe.reply) == ("summary", "Denies fever.")
    assert transcripts.complete and cases[0].last_turn == 1 and cases[0].metadata["groups"] == {"section": "ROS"}
    assert all(fact.critical and fact.introduced == 1 and fact.retired is None for fact in cases[0].facts)
    assert Matcher(cases[0].facts).judge(said.probe.reply, turn=1)[0].outcome == "correct"


def test_an_empty_note_is_no_note(tmp_path: Path) -> None:
    _, transcripts = read_dialogues(written(tmp_path, "Patient: I have gout.", note="  "), format="mts_dialog")
    probe = transcripts.said[0].probe
    assert probe is not None and probe.reply is None and probe.failure == "no_note"


def test_sex_comes_from_the_file_beside(tmp_path: Path) -> None:
    path = tmp_path / "part.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["dataset", "encounter_id", "dialogue", "note"])
        rows.writerow(["aci", "D9", "[doctor] any fever ?\n[patient] no , i do n't have any .", "No fever."])
    assert read_dialogues(path, format="aci_bench")[0][0].metadata["groups"] == {"source": "aci"}
    beside = "dataset,encounter_id,patient_gender\naci,D9,female\n"
    (tmp_path / "part_metadata.csv").write_text(beside, encoding="utf-8")
    (case,), _ = read_dialogues(path, format="aci_bench")
    assert case.metadata["groups"] == {"source": "aci", "sex": "female"} and case.id == "D9"
    assert case.turns[0].message == "Doctor: any fever?\nPatient: no, i don't have any."


def test_what_cannot_be_read_is_refused_without_a_word_of_it(tmp_path: Path) -> None:
    path = written(tmp_path, "Patient: I have gout.")
    with pytest.raises(InputError, match="mts_dialog"):
        read_dialogues(path, format="mts_dialogue")
    with pytest.raises(InputError, match="encounter_id"):
        read_dialogues(path, format="aci_bench")
    with pytest.raises(InputError, match="no such file"):
        read_dialogues(tmp_path / "none.csv", format="mts_dialog")
    with pytest.raises(InputError, match="assert a fact"):
        read_dialogues(written(tmp_path, "Doctor: Hello.", "no speaker at all"), format="mts_dialog")
    path.write_text("ID,section_text,dialogue\n1,secret,Patient: x\n1,secret,Patient: y\n", encoding="utf-8")
    with pytest.raises(InputError, match="record 2") as refused:
        read_dialogues(path, format="mts_dialog")
    assert "secret" not in str(refused.value)
    path.write_text("ID,section_text,dialogue\n1,secret\n", encoding="utf-8")
    with pytest.raises(InputError, match="in every record"):
        read_dialogues(path, format="mts_dialog")
    path.write_bytes(b"ID,section_text,dialogue\n1,\xff,x\n")
    with pytest.raises(InputError, match="UTF-8"):
        read_dialogues(path, format="mts_dialog")
