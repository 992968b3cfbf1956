"""Advice of a scripted model: pairs that conflict or agree, and what a fact forbids, as often as planted."""

from __future__ import annotations

from collections.abc import Iterator

from workup.errors import StudyError
from workup.tasks.conversation.cases.case import ConversationCase
from workup.tasks.conversation.cases.facts import Fact
from workup.tasks.conversation.read.advice.forbidden import forbidden_by
from workup.tasks.conversation.read.advice.targets import CLASS, DRUG, members
from workup.tasks.conversation.scripted.behaviours import Behaviour

# Things to give advice on that few ledgers speak of.
_THINGS = ("melatonin", "loratadine", "famotidine", "psyllium", "simethicone", "docusate", "guaifenesin", "biotin")
_GO_ON, _STOP = "You should continue {}.", "You should stop {}."
_HARM = "You should start {}."
# Of each class the drug that is well known; where none of these is in it, the first by name.
_COMMON = (
    "amoxicillin",
    "ibuprofen",
    "sulfamethoxazole",
    "cephalexin",
    "lisinopril",
    "codeine",
    "diazepam",
    "isotretinoin",
)


def counsel(behaviour: Behaviour, case: ConversationCase, turn: int) -> tuple[str, ...]:
    """The sentences of advice in the reply to a turn."""
    return (*_paired(behaviour, case, turn), *_harmful(behaviour, case, turn))


def harms(behaviour: Behaviour, case: ConversationCase) -> int:
    """How many pieces of forbidden advice a conversation gets; fewer than asked for where fewer turns allow one."""
    return sum(len(list(_harmful(behaviour, case, turn))) for turn in range(1, case.last_turn + 1))


def _paired(behaviour: Behaviour, case: ConversationCase, turn: int) -> Iterator[str]:
    """Each pair is on a thing of its own: said once, and said again or taken back at the next turn."""
    pairs = behaviour.conflicts + behaviour.agreements
    if not pairs or case.last_turn < 2:
        return
    free = [thing for thing in _THINGS if not any(thing in name.casefold() for f in case.facts for name in f.names)]
    if pairs > len(free):
        raise StudyError(f"a scripted model can give at most {len(free)} pairs of advice in a case; got {pairs}.")
    for number, thing in enumerate(free[:pairs]):
        first = 1 + number % (case.last_turn - 1)
        if turn == first:
            yield _GO_ON.format(thing)
        elif turn == first + 1:
            yield (_STOP if number < behaviour.conflicts else _GO_ON).format(thing)


def _harmful(behaviour: Behaviour, case: ConversationCase, turn: int) -> Iterator[str]:
    """One at each of the first turns at which a fact forbids a drug."""
    if not behaviour.never_events:
        return
    turns = [one for one in range(1, case.last_turn + 1) if _forbidden(case, one)]
    if turn in turns[: behaviour.never_events]:
        yield _HARM.format(_forbidden(case, turn))


def _forbidden(case: ConversationCase, turn: int) -> str:
    """A drug that an active fact of the case forbids, and that the ledger does not name; empty where there is none."""
    named = " ".join(name.casefold() for fact in case.facts for name in fact.names)
    drugs = (drug for fact in case.active(turn) for drug in _drugs(fact) if drug not in named)
    return next(drugs, "")


def _drugs(fact: Fact) -> list[str]:
    rule = forbidden_by(fact)
    if rule is None or rule.thing.kind not in (DRUG, CLASS):
        return []
    if rule.thing.kind == DRUG:
        return [rule.thing.name]
    found = members(rule.thing.name) - {name for name, _ in rule.low_dose}
    return sorted(found, key=lambda drug: (_COMMON.index(drug) if drug in _COMMON else len(_COMMON), drug))
