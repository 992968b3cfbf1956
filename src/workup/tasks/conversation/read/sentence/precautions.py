"""Where a reader is told to seek help, and what opens the reasons for it. Knows words, no facts."""

from __future__ import annotations

from workup.tasks.conversation.read.sentence.cues import word_set

_FARTHEST = 12  # words between "call" and "for"
_TOLD_OF = frozenset({"notify", "inform", "alert", "tell"})
_OPENS_CONDITION = frozenset({"with", "for"})


def warnings_in(words: list[str]) -> list[tuple[int, int]]:
    """Where a reader is told to seek help, with the place of the "for", "with" or "any" that opens the reasons.

    >>> warnings_in("please call us right away with any fever".split())
    [(1, 5)]
    """
    found = []
    if len(words) > 2 and words[0] in _OPENS_CONDITION and words[1] == "any":
        found.append((0, 1))
    if words[0] == "should" and len(words) > 2:
        found.append((0, 0))
    verbs = word_set("help_verbs")
    if verbs.isdisjoint(words):
        return found
    between, triggers, openings = word_set("help_words"), word_set("help_triggers"), word_set("help_openings")
    for place, word in enumerate(words):
        if word not in verbs or not (place == 0 or words[place - 1] in openings):
            continue
        for trigger in range(place + 1, min(place + _FARTHEST, len(words) - 1)):
            if words[trigger] in triggers or (words[trigger] == "of" and word in _TOLD_OF):
                found.append((place, trigger))
                break
            if words[trigger] not in between and not words[trigger][0].isdigit():
                break
    return found
