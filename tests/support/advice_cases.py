"""Cases and judges that several tests of advice speak of."""

from __future__ import annotations

from collections.abc import Iterable

from workup.tasks.conversation.cases.case import ConversationCase, Turn
from workup.tasks.conversation.cases.facts import Fact


def case_with(*facts: Fact, turns: int = 8, id: str = "c1") -> ConversationCase:
    """A case of some turns whose messages say the words of all facts."""
    said = ". ".join(name for fact in facts for name in fact.names) or "hello"
    return ConversationCase(id, "", tuple(Turn(number, said) for number in range(1, turns + 1)), tuple(facts))


class WordJudge:
    """Calls two texts a contradiction where one of them says stop or avoid and the other does not."""

    name = "words"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def contradicts(self, premise: str, hypothesis: str) -> float:
        self.asked.append((premise, hypothesis))
        against = [any(word in text.casefold() for word in ("stop", "avoid")) for text in (premise, hypothesis)]
        return 0.9 if against[0] != against[1] else 0.1


class FixedJudge:
    """Answers what it is told to, in turn."""

    def __init__(self, answers: Iterable[object]) -> None:
        self.answers = iter(answers)

    def contradicts(self, premise: str, hypothesis: str) -> float | None:
        return next(self.answers)  # type: ignore[return-value]
