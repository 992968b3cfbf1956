"""The de-identifier: layers propose, what is clinical is protected, overlaps are settled, mentions are followed up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from workup.deid import settings as rules
from workup.deid.clinical_terms import unprotected, without_allowed
from workup.deid.finding import Finding
from workup.deid.fusion.opening import Opened, TaggerUse, opened
from workup.deid.known_values import KnownValues, joined
from workup.deid.letter_case.restore import CaseReader
from workup.deid.names.titles import with_titles
from workup.deid.overlaps import resolved
from workup.deid.repeat_mentions import all_mentions
from workup.deid.text_view import Page
from workup.deid.typos.repair import Repair
from workup.documents.labels import BRANCHES, SCHEME, branch_of
from workup.documents.language import Language, language_of
from workup.errors import InputError, near

LAYERS = ("rules", "spacy")
LEAVES = tuple(leaf for leaf in SCHEME if branch_of(leaf) != "CLIN")
_BRANCH = {name: branch_of(name) for name in (*SCHEME, *BRANCHES)}


class Layer(Protocol):
    """Something that proposes findings on a page, by itself."""

    name: str
    version: str

    def propose(self, page: Page) -> list[Finding]:
        """Findings in any order; they may overlap."""
        ...


class Reading(NamedTuple):
    """What was found in a text, and whether it looks English; rules are made for English, so a mark means: check."""

    findings: list[Finding]
    language: Language


class Deidentifier:
    """Finds what identifies people. `load` makes one.

    >>> deid = Deidentifier.load()
    >>> text = "Ada Berg, MD saw patient Trevino on 3/14/2021; MRN: 00-41-77."
    >>> [(text[one.start : one.end], one.label) for one in deid.detect([text])[0]]
    [('Ada Berg', 'name_provider'), ('Trevino', 'name_patient'), ('3/14/2021', 'date'), ('00-41-77', 'mrn')]
    """

    def __init__(
        self,
        settings: rules.Settings,
        layers: Sequence[Layer],
        *,
        language: str = "en",
        known: KnownValues | None = None,
        tagger: Opened | None = None,
    ) -> None:
        self.settings, self.layers, self.language, self.known = settings, tuple(layers), language, known
        self._fusion, self.notes = tagger or Opened(None, ())
        spoken = [layer.version for layer in self.layers]
        self.version = "; ".join([*spoken, self._fusion.version] if self._fusion else spoken)
        self._repair, self._cases = Repair(settings), CaseReader(settings)

    @classmethod
    def load(
        cls,
        config: str | Path | Mapping[str, Any] | None = None,
        *,
        layers: Sequence[str | Layer] = ("rules",),
        language: str = "en",
        known: Iterable[tuple[str, Iterable[tuple[str, str]]]] | None = None,
        tagger: TaggerUse = "auto",
        model: Path | None = None,
        caution: float = 0.0,
        threads: int = 1,
    ) -> Deidentifier:
        """The shipped rules, a user's own on top (a YAML file or its content), and the layers by name or as objects.

        `known` gives what a register knows of each patient: a key, and pairs of a leaf and a value. `tagger` says
        whether a small neural tagger reads along: `on`, `off`, or `auto`, where it can be run; where it cannot, a
        warning says so, and so do the `notes`. `model` is a folder with another one, `caution` what is added to the
        log-odds of every find that rests on no label or check digit, `threads` those of the tagger.
        """
        if language != "en":
            raise InputError(
                "the language must be one that rules exist for",
                got=f"'{language[:20]}'",
                remedy="use en; other texts are searched with the same rules, and marked in what read() answers",
            )
        if isinstance(layers, str) or not layers:
            raise InputError("layers must be a list that is not empty", remedy="write layers: [rules]")
        settings = rules.load(config)
        return cls(
            settings,
            [_layer(one, settings) for one in layers],
            language=language,
            known=None if known is None else KnownValues(known, settings),
            tagger=opened(tagger, settings, model=model, caution=caution, threads=threads),
        )

    @property
    def tagged(self) -> bool:
        """Whether the tagger reads along."""
        return self._fusion is not None

    def detect(self, texts: Iterable[str], patients: Iterable[str | None] | None = None) -> list[list[Finding]]:
        """Findings of each text, by start, none overlapping; `patients` says whose each is, for what is known."""
        if patients is None:
            return [self._find(text) for text in texts]
        return [self._find(text, patient) for text, patient in zip(texts, patients, strict=True)]

    def read(self, text: str) -> Reading:
        """Findings of one text with a mark of its language.

        >>> Deidentifier.load().read("Ingresa por dolor de pecho.").language
        'uncertain'
        """
        return Reading(self._find(text), language_of(text))

    def _find(self, text: str, patient: str | None = None) -> list[Finding]:
        if not text:
            return []
        read = self._repair.read(text)
        page = self._cases.page(read.text)
        proposed = [one for layer in self.layers for one in layer.propose(page)]
        opinion = self._fusion.read(page, read.text) if self._fusion else None
        if self._fusion and opinion:
            proposed = self._fusion.weighed(page, proposed, opinion)
        kept = resolved(self._passing(page, proposed), page.text)
        more = all_mentions(page, kept, self.settings)
        if more:
            kept = resolved([*kept, *self._passing(page, more)], page.text)
        if self._fusion and opinion:
            kept = self._fusion.told(kept, opinion)
        found = read.back(with_titles(page, kept, self.settings))
        if self.known is not None and (own := self.known.find(text, patient, page)):
            found = joined(found, own, text)
        return found

    def _passing(self, page: Page, findings: Sequence[Finding]) -> list[Finding]:
        sure = [one for one in findings if one.score >= self.settings.threshold(one.label)]
        # What the tagger alone finds was weighed with what is clinical in mind.
        tagged = [one for one in sure if one.rule.startswith("tagger.")]
        ruled = [one for one in sure if not one.rule.startswith("tagger.")] if tagged else sure
        return [
            *unprotected(page, ruled, self.settings, _BRANCH),
            *without_allowed(page, tagged, self.settings.allow),
        ]


def _layer(one: str | Layer, settings: rules.Settings) -> Layer:
    if not isinstance(one, str):
        return one
    if one == "rules":
        from workup.deid.layers.rules import Rules

        return Rules(settings)
    if one == "spacy":
        from workup.deid.layers.spacy_layer import SpacyLayer

        return SpacyLayer()
    raise InputError("a layer must be a known one", got=f"'{one[:40]}'", remedy=near(one, LAYERS))
