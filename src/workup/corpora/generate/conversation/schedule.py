"""At which turn each thing is told: early, late or in between, what ends after what began."""

from __future__ import annotations

import math

from workup.corpora.generate.conversation.plots import ANY, EARLY, FIRST, LATE, Plot, Told
from workup.values.draws import Chance

_MOST_A_TURN = 2


def turns_of(plot: Plot, last: int, chance: Chance) -> dict[int, list[Told]]:
    """Things told by turn, from turn 1 to the one before the last, which asks for a summary.

    What finds no room is left out, together with all that would have followed from it.
    """
    room = dict.fromkeys(range(1, last), _MOST_A_TURN)
    placed: dict[int, list[Told]] = {turn: [] for turn in range(1, last)}
    began: dict[str, int] = {}
    order = sorted(chance.shuffled(plot.told), key=lambda one: (not one.needed, one.phase, bool(one.ends)))
    waiting = [one for one in order if not one.ends] + [one for one in order if one.ends]
    for one in waiting:
        if one.ends and one.ends not in began:
            continue
        turn = _turn(one, last, room, chance, after=began.get(one.ends, 0))
        if turn is None:
            continue
        room[turn] -= 1
        placed[turn].append(one)
        if one.fact:
            began[one.fact] = turn
    ended = {one.ends for told in placed.values() for one in told}
    # A drug that a patient must not have is not told of where there is no room to tell that it was stopped.
    unended = plot.must_end - ended
    return {turn: [one for one in told if one.fact not in unended] for turn, told in placed.items()}


def _turn(one: Told, last: int, room: dict[int, int], chance: Chance, *, after: int) -> int | None:
    if one.phase == FIRST:
        return 1
    early, late = max(2, math.ceil(0.45 * last)), math.ceil(0.5 * last)
    low, high = {EARLY: (2, early), ANY: (2, last - 1), LATE: (late, last - 1)}[one.phase]
    # A thing is told for two turns at least before it changes.
    low = max(low, after + 2) if after else low
    free = [turn for turn in range(low, high + 1) if room.get(turn, 0) > 0]
    if not free:
        free = [turn for turn in range(max(2, after + 1), last) if room.get(turn, 0) > 0]
    if not free:
        return None
    empty = [turn for turn in free if room[turn] == _MOST_A_TURN]
    return chance.pick(empty or free)
