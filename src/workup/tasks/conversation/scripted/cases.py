"""Small cases for scripted models: every kind of fact, one that is stopped, one whose dose changes, one told later."""

from __future__ import annotations

from workup.tasks.conversation.cases.case import ConversationCase, Event, Turn
from workup.tasks.conversation.cases.facts import Fact

TURNS = 10
STOPPED, CHANGED, LATER = 6, 7, 3  # turns at which one drug is stopped, one dose is changed and one problem told
_OPENING = (
    "As I said at visit number {number}, I am allergic to penicillin. I take warfarin 5 mg once daily, metformin 500 "
    "mg twice daily and lisinopril 10 mg once daily. I have asthma. I have no chest pain. I had a stroke in 2015. My "
    "mother had breast cancer, so there is a family history of breast cancer."
)
_TOLD = {
    LATER: "My left knee pain is back since our visit number {number}.",
    STOPPED: "My doctor stopped lisinopril after visit number {number}.",
    CHANGED: "My metformin was raised to 1000 mg twice daily after visit number {number}.",
}
_TALK = "This is message {turn} of visit number {number}: how shall I plan my week?"


def small_cases(count: int = 20, *, turns: int = TURNS) -> list[ConversationCase]:
    """So many cases of one build, so that what is planted in all is planted in each.

    >>> case = small_cases(1)[0]
    >>> [len(case.active(turn)) for turn in (1, 3, 6, 7, 10)], [fact.id for fact in case.retired(10)]
    ([8, 9, 8, 8, 8], ['metformin', 'lisinopril'])
    """
    return [_case(number, turns) for number in range(1, count + 1)]


def _case(number: int, turns: int) -> ConversationCase:
    said = [_OPENING if turn == 1 else _TOLD.get(turn, _TALK) for turn in range(1, turns + 1)]
    events = {
        LATER: (Event("introduce", "knee"),),
        STOPPED: (Event("retire", "lisinopril"),),
        CHANGED: (Event("change", "metformin", "metformin_more"),),
    }
    return ConversationCase(
        f"scripted-{number:04d}",
        "",
        tuple(
            Turn(turn, text.format(number=number, turn=turn), events.get(turn, ()))
            for turn, text in enumerate(said, start=1)
        ),
        tuple(fact for fact in _facts(turns) if fact.introduced <= turns),
        metadata={"groups": {"half": "first" if number % 2 else "second"}},
    )


def _facts(turns: int) -> tuple[Fact, ...]:
    stopped = STOPPED if turns >= STOPPED else None
    changed = CHANGED if turns >= CHANGED else None
    return (
        Fact("penicillin", "allergy", "penicillin", harm_tag="avoid_class:penicillins"),
        Fact("warfarin", "medication", "warfarin", attributes=_dose(5, "once daily")),
        Fact(
            *("metformin", "medication", "metformin"),
            attributes=_dose(500, "twice daily"),
            retired=changed,
            superseded_by="metformin_more" if changed else None,
        ),
        Fact("lisinopril", "medication", "lisinopril", attributes=_dose(10, "once daily"), retired=stopped),
        Fact("asthma", "diagnosis", "asthma"),
        Fact("chest_pain", "symptom", "chest pain", status="absent"),
        Fact("stroke", "diagnosis", "stroke", status="historical"),
        Fact("breast_cancer", "diagnosis", "breast cancer", status="family"),
        Fact("knee", "symptom", "knee pain", attributes={"laterality": "left"}, introduced=LATER),
        Fact("metformin_more", "medication", "metformin", attributes=_dose(1000, "twice daily"), introduced=CHANGED),
    )


def _dose(value: float, often: str) -> dict[str, object]:
    return {"dose_value": value, "dose_unit": "mg", "frequency": often}
