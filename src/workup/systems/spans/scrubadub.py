"""scrubadub as a detector: its patterns for contacts and identifiers. It finds no names unless add-ons are chosen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from workup.documents.document import Span
from workup.errors import InputError, SystemFailure, near, raised
from workup.systems.libraries import library
from workup.systems.settings import Batch, OnError, Word, Words
from workup.systems.spans.detectors import (
    Answers,
    check_detector_settings,
    check_words,
    detect_each,
    settings_text,
    silent,
)

_LOGGERS = ("scrubadub", "dateparser", "textblob", "nltk", "phonenumbers")
_TOLD = ("tagged", "user_supplied")  # these look up answers that they are given beforehand
_BY_CLOCK = "date_of_birth"


class Scrubadub:
    """Answers what each of scrubadub's detectors finds; findings that it would merge are kept apart, with their types.

    Without `detectors`, those that it loads by itself for the `locale`. `text_blob_name` needs corpora of NLTK, which
    are not fetched here. `date_of_birth` counts ages from the day of the run, so its answers change with the calendar,
    and a note says so. A text on which scrubadub crashes ends the run, or is refused with `on_error: refuse`.
    """

    spreads = True  # one core, no service: several processes may have one each

    recorded: ClassVar[bool] = False
    mapping: ClassVar[str] = "scrubadub"

    def __init__(
        self,
        *,
        name: str,
        base: Path,
        locale: Annotated[Word, Field(description="Locale of the texts, as in en_US")] = "en_US",
        detectors: Annotated[Words | None, Field(description="Detectors by name; scrubadub's own when absent")] = None,
        on_error: OnError = "fail",
        batch: Batch = 64,
    ) -> None:
        where = f"system '{name}'"
        check_detector_settings(on_error=on_error, batch=batch, where=where)
        self.name, self.on_error, self.batch = name, on_error, batch
        package = library("scrubadub", package="scrubadub", extra="scrubadub", purpose="running scrubadub")
        chosen = check_words(detectors, field="detectors", where=where)
        with silent(*_LOGGERS):
            self._scrubber = _scrubber(package, locale, chosen, where=where)
        # Its list of detectors in use is private, and the only one there is.
        used = self._scrubber._detectors
        self.emits = tuple(sorted({detector.filth_cls.type for detector in used.values()}))
        shown = settings_text(locale=locale, detectors=tuple(sorted(used)))
        self.version = f"scrubadub {version_of('scrubadub')} {shown}"
        self.notes: tuple[str, ...] = ()
        if _BY_CLOCK in used:
            self.notes = ("scrubadub counts ages from the day of the run, so that dates of birth change with it",)
        self._settings: dict[str, Any] = {
            "name": name,
            "base": base,
            "locale": locale,
            "detectors": detectors,
            "on_error": on_error,
            "batch": batch,
        }

    def __getstate__(self) -> dict[str, Any]:
        return self._settings

    def __setstate__(self, settings: dict[str, Any]) -> None:
        self.__init__(**settings)  # type: ignore[misc]

    def detect(self, texts: Sequence[str]) -> Answers:
        """What scrubadub finds in each text, by start."""
        with silent(*_LOGGERS):
            return detect_each(texts, self._find, system=self.name, on_error=self.on_error)

    def _find(self, text: str) -> Iterator[Span]:
        for filth in self._scrubber.iter_filth(text, run_post_processors=False):
            for one in _apart(filth):
                yield Span(one.beg, one.end, one.type)


def _apart(filth: Any) -> Iterator[Any]:
    """Overlapping findings of several types come merged, under a type of their own that no table knows."""
    parts = getattr(filth, "filths", None)
    if not parts:
        yield filth
    for part in parts or ():
        yield from _apart(part)


def _scrubber(package: Any, locale: str, chosen: tuple[str, ...] | None, *, where: str) -> Any:
    if not isinstance(locale, str) or len(locale.split("_")) != 2:
        raise InputError("'locale' must be a language and a country, such as en_US", where=where)
    known = package.detectors.detector_catalogue.get_all()
    for detector in chosen or ():
        if detector in known and detector not in _TOLD:
            if not getattr(known[detector], "supported_locale", lambda _: True)(locale):
                raise InputError(
                    f"the detector '{detector}' does not know the locale {locale[:20]}",
                    where=where,
                    remedy="leave it out of 'detectors', or set another 'locale'",
                )
            continue
        raise InputError(
            f"'detectors' names '{detector[:60]}', which cannot be used here",
            where=where,
            remedy=near(detector, set(known) - set(_TOLD)),
        )
    try:
        return package.Scrubber(detector_list=None if chosen is None else list(chosen), locale=locale)
    except Exception as error:
        raise SystemFailure(
            f"{where}: scrubadub could not be set up ({raised(error)}). To fix: leave out detectors whose data is not "
            "installed, and name a 'locale' that it knows."
        ) from None
