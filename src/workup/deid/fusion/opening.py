"""The tagger opened as the user asks for it: on, off, or where it can be run, and told where it cannot."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from workup.errors import InputError, MissingExtra, near

if TYPE_CHECKING:
    from workup.deid.fusion.fusion import Fusion
    from workup.deid.settings import Settings

TaggerUse = Literal["auto", "on", "off"]
USES = ("auto", "on", "off")
_MOST_CAUTION = 20.0


class Opened(NamedTuple):
    """Rules and tagger together, None where rules work alone, and what must be said about it."""

    fusion: Fusion | None
    notes: tuple[str, ...]


def opened(use: str, settings: Settings, *, model: Path | None, caution: float, threads: int) -> Opened:
    """The tagger, or a note on why rules work alone."""
    if use not in USES:
        raise InputError("'tagger' must be auto, on or off", got=f"'{str(use)[:20]}'", remedy=near(str(use), USES))
    _check(caution, threads)
    if use == "off":
        return Opened(None, ())
    try:
        return Opened(_fusion(settings, model=model, caution=caution, threads=threads), ())
    except (InputError, MissingExtra) as error:
        if use == "on":
            raise
        note = f"The tagger did not run, and rules worked alone: {error}"
        warnings.warn(note, stacklevel=3)
        return Opened(None, (note,))


def _fusion(settings: Settings, *, model: Path | None, caution: float, threads: int) -> Fusion:
    from workup.deid.fusion.chances import FILE, Chances
    from workup.deid.fusion.fusion import Fusion
    from workup.deid.tagger.model import Tagger, json_of

    tagger = Tagger.shipped(threads) if model is None else Tagger.load(model, threads=threads)
    chances = Chances.of(json_of(model, FILE))
    if chances.fitted_for != tagger.digest:
        raise InputError(
            "the fitted table must be that of this tagger",
            where=FILE,
            got="one that was fitted for another",
            remedy="fit it with training/fit_fusion.py",
        )
    return Fusion(tagger, chances, settings, caution=caution)


def _check(caution: float, threads: int) -> None:
    number = isinstance(caution, (int, float)) and not isinstance(caution, bool)
    if not number or not math.isfinite(caution) or abs(caution) > _MOST_CAUTION:
        raise InputError("'caution' must be a number from -20 to 20", got=repr(caution)[:20])
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 256:
        raise InputError("'threads' must be a whole number from 1 to 256", got=repr(threads)[:20])
