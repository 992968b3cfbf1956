"""What a scripted model does wrong, and by how much: the numbers that a sound toolkit must find again."""

from __future__ import annotations

from dataclasses import dataclass

from workup.errors import StudyError, near

NOTHING_KEPT = 0.0


@dataclass(frozen=True)
class Behaviour:
    """Planted numbers. Rates are shares of the facts at a turn; counts are of each conversation.

    A live conversation keeps `recall + slope · (turn − 1)` of its facts, and nothing of a fact during its `spells` of
    loss, given as first tick and the tick at which it is back (None: never), counted from 1 where it is introduced.
    Without `noise` the shares are met as nearly as whole facts allow; with it every fact is a draw, and cases differ by
    `spread` (a standard deviation).
    """

    name: str = "perfect"
    recall: float = 1.0
    slope: float = 0.0
    spells: tuple[tuple[int, int | None], ...] = ()
    oracle: float = 1.0  # recall with the facts alone before the model
    reversal: float = 0.0
    wrong_value: float = 0.0  # of the facts that have a value
    stale: float = 0.0  # of the facts that no longer hold
    conflicts: int = 0
    agreements: int = 0  # pairs of advice that can be compared and agree
    never_events: int = 0
    failures: float = 0.0  # of the calls
    padding: int = 0  # sentences around the facts that say nothing
    noise: bool = False
    spread: float = 0.0
    copies: str = ""  # what it takes over from its own last reply: doses, or all that was said of a fact

    def __post_init__(self) -> None:
        for name in ("recall", "oracle", "reversal", "wrong_value", "stale", "failures"):
            if not 0 <= getattr(self, name) <= 1:
                raise StudyError(f"a scripted model's '{name}' must lie from 0 to 1; got {getattr(self, name)}.")
        if self.copies not in ("", "doses", "all"):
            raise StudyError("a scripted model 'copies' doses, all or nothing.")
        for name in ("conflicts", "agreements", "never_events", "padding", "spread"):
            if getattr(self, name) < 0:
                raise StudyError(f"a scripted model's '{name}' must not be negative; got {getattr(self, name)}.")

    def kept(self, arm: str, turn: int) -> float:
        """The planted recall of an arm at a turn, before any spell of loss."""
        if arm == "naive":
            return NOTHING_KEPT
        if arm == "oracle":
            return self.oracle
        later = int(arm.partition("-")[2]) if arm.startswith("filler-") else turn - 1
        return min(1.0, max(0.0, self.recall + self.slope * later))

    def lost(self, arm: str, tick: int) -> bool:
        """Whether a fact is in a spell of loss, so many ticks after it was introduced."""
        return arm == "live" and any(a <= tick and (b is None or tick < b) for a, b in self.spells)


_KNOWN = {
    one.name: one
    for one in (
        Behaviour("perfect"),
        Behaviour("forgetful", slope=-0.05),
        Behaviour("dropping", spells=((6, None),)),
        Behaviour("wavering", spells=((3, 4), (7, None))),
        Behaviour("reversing", reversal=0.2),
        Behaviour("dose_confusing", wrong_value=0.5),
        Behaviour("stale", stale=1.0),
        Behaviour("flip_flopping", conflicts=1, agreements=1),
        Behaviour("harmful", never_events=1),
        Behaviour("verbose", padding=40),
        Behaviour("failing", failures=0.1),
        Behaviour("copying", copies="all"),
    )
}
BEHAVIOURS = tuple(_KNOWN)


def behaviour(name: str) -> Behaviour:
    """One of the behaviours by name; `dataclasses.replace` gives it other numbers.

    >>> behaviour("forgetful").kept("live", 5)
    0.8
    """
    if name not in _KNOWN:
        raise StudyError(f"no scripted model behaves '{name[:40]}'; {near(name[:40], BEHAVIOURS)}.")
    return _KNOWN[name]
