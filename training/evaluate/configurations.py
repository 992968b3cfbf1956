"""The configurations that are compared: the native de-identifier with and without its tagger, and what others offer.

Native answers are of all leaves; the leaves that a corpus's policy says must be masked are kept when it is scored, as
`use: native` with a policy would do. What an answer depends on (code, data, model, versions) goes into its key, so
that answers kept on disk are never those of another de-identifier.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any, cast

import workup.deid
from training.evaluate.corpora import Corpus, register_of
from workup import plugins
from workup.deid import Deidentifier
from workup.deid.tagger.decoding import spans_of
from workup.deid.tagger.model import Tagger
from workup.documents.document import Span
from workup.documents.labels import branch_of
from workup.documents.policies import Policy

KEPT = Path(__file__).parent / "kept"
_AT_ONCE = 64  # texts that are handed over together
Answers = list[list[Span] | None]


class AnswersKept:
    """Answers on disk, one for each text, of whatever has this key."""

    def __init__(self, key: str) -> None:
        KEPT.mkdir(exist_ok=True)
        (KEPT / ".gitignore").write_text("*\n")
        self._table = sqlite3.connect(KEPT / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.sqlite")
        self._table.execute("CREATE TABLE IF NOT EXISTS answers (text TEXT PRIMARY KEY, spans TEXT)")

    def of(self, texts: Sequence[str], detect: Callable[[Sequence[str]], Answers]) -> list[Any]:
        """Start, end, label and score of the spans in each text; what was not asked before is asked now."""
        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for text in texts]
        held = dict(self._table.execute("SELECT text, spans FROM answers").fetchall())
        missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in held}.items())
        for begin in range(0, len(missing), _AT_ONCE):
            some = missing[begin : begin + _AT_ONCE]
            for (key, _), spans in zip(some, detect([text for _, text in some]), strict=True):
                rows = None if spans is None else [(one.start, one.end, one.label, one.score) for one in spans]
                held[key] = json.dumps(rows)
            self._table.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", [(k, held[k]) for k, _ in some])
            self._table.commit()
        return [json.loads(held[key]) for key in keys]


@dataclass(frozen=True)
class Configuration:
    """Something that answers texts. `mapping` is the scheme of its labels, `kept` the labels it is limited to."""

    name: str
    mapping: str
    key: str
    load: Callable[[], Callable[[Sequence[str]], Answers]] = field(repr=False)
    native: bool = False
    without: frozenset[str] = frozenset()

    @cached_property
    def detect(self) -> Callable[[Sequence[str]], Answers]:
        """Loaded when first asked."""
        return self.load()

    def answers(self, corpus: Corpus) -> Answers:
        """What it finds in a corpus, from disk where it was asked before."""
        return [None if rows is None else self._limited(rows, corpus.policy) for rows in self.rows(corpus.texts)]

    def rows(self, texts: Sequence[str]) -> list[Any]:
        """Start, end, label and score of everything that it finds, by text."""
        return AnswersKept(self.key).of(texts, lambda some: self.detect(some))

    def _limited(self, rows: Iterable[Any], policy: str) -> list[Span]:
        spans = [Span(start, end, label, score=score) for start, end, label, score in rows]
        if self.native:
            decide = Policy.load(policy)
            return [one for one in spans if branch_of(one.label) != "CLIN" and decide.of(one.label) == "must"]
        return [one for one in spans if one.label not in self.without]


def _hash_of(folder: Path) -> str:
    """Of the files of a folder, names and bytes."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(str(path.relative_to(folder)).encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _code() -> str:
    return _hash_of(Path(workup.deid.__file__).parent)


def native(name: str, *, tagger: bool, model: Path | None = None) -> Configuration:
    """The native de-identifier, with the tagger or by its rules alone; `model` is the folder of another tagger."""
    key = f"{'tagger' if tagger else 'rules'} {_code()} {_hash_of(model) if tagger and model else ''}"
    maker = WithRegister if name.endswith("known values") else Configuration
    return maker(name, "workup", key, partial(_native, tagger=tagger, model=model), native=True)


def _native(*, tagger: bool, model: Path | None, **register: Any) -> Callable[..., Answers]:
    deid = Deidentifier.load(tagger="on" if tagger else "off", model=model, **register)

    def detect(texts: Sequence[str], *patients: Sequence[str]) -> Answers:
        return [list(map(_span, found)) for found in deid.detect(texts, *patients)]

    return detect


@dataclass(frozen=True)
class WithRegister(Configuration):
    """The native de-identifier that is told whose text it reads, and what a register knows of that patient."""

    def answers(self, corpus: Corpus) -> Answers:
        """What it finds; texts of patients that no register knows are left to the rest of it."""
        whose = {one.text: one.patient for one in corpus.documents}
        known = [(one.patient, register_of(one)) for one in corpus.documents]
        load = cast("partial[Callable[..., Answers]]", self.load)
        detect = cache(lambda: load(known=known))
        kept = AnswersKept(f"{self.key} register")
        rows = kept.of(corpus.texts, lambda texts: detect()(texts, [whose[text] for text in texts]))
        return [None if spans is None else self._limited(spans, corpus.policy) for spans in rows]


_LEAVES = {"STREET": "street_address", "PHONE": "phone", "EMAIL": "email", "URL": "url", "AGE": "age_under_90"}


def tagger_alone(model: Path | None) -> Configuration:
    """What the network says without any rule, to tell two models apart; it is no configuration that anybody runs."""

    def load() -> Callable[[Sequence[str]], Answers]:
        network = Tagger.load(model)

        def found(text: str) -> list[Span]:
            spans = spans_of(text, network.read(text))
            return [Span(one.start, one.end, _LEAVES.get(one.label, one.label), score=one.sure) for one in spans]

        return lambda texts: list(map(found, texts))

    return Configuration(
        "tagger alone", "workup", f"alone {_code()} {_hash_of(model) if model else ''}", load, native=True
    )


def _span(finding: Any) -> Span:
    return Span(finding.start, finding.end, finding.label, score=finding.score)


def _plug_in(name: str, **settings: Any) -> Callable[[], Callable[[Sequence[str]], Answers]]:
    def load() -> Callable[[Sequence[str]], Answers]:
        system = plugins.find("systems", name)(name=name, base=Path(), on_error="refuse", **settings)
        return lambda texts: [None if found is None else list(found) for found in system.detect(texts)]

    return load


def presidio(*, organizations: bool) -> Configuration:
    """Presidio as it comes, or with organisations. Without them it answers the same but for that one entity, so that
    one reading serves both."""
    from importlib.metadata import version

    name = "Presidio with organisations" if organizations else "Presidio"
    key = f"presidio {version('presidio-analyzer')} {version('spacy')} organizations"
    without = frozenset() if organizations else frozenset({"ORGANIZATION"})
    return Configuration(name, "presidio", key, _plug_in("presidio", organizations=True), without=without)


def scrubadub() -> Configuration:
    """scrubadub with its default detectors."""
    from importlib.metadata import version

    return Configuration("scrubadub", "scrubadub", f"scrubadub {version('scrubadub')}", _plug_in("scrubadub"))


def by_name(asked: Sequence[str], model: Path | None) -> list[Configuration]:
    """Configurations in the order asked for; `model` is the folder of the tagger's model, the shipped one if None."""
    makers: dict[str, Callable[[], Configuration]] = {
        "rules": lambda: native("rules", tagger=False),
        "tagger": lambda: native("rules + tagger", tagger=True, model=model),
        "tagger-alone": lambda: tagger_alone(model),
        "rules+known": lambda: native("rules + known values", tagger=False),
        "tagger+known": lambda: native("rules + tagger + known values", tagger=True, model=model),
        "presidio": lambda: presidio(organizations=False),
        "presidio+org": lambda: presidio(organizations=True),
        "scrubadub": scrubadub,
    }
    return [_named(name, makers) for name in asked]


def _named(name: str, makers: dict[str, Callable[[], Configuration]]) -> Configuration:
    kind, _, folder = name.partition("=")
    if kind == "tagger" and folder:
        return native(f"rules + tagger ({Path(folder).name})", tagger=True, model=Path(folder))
    if name not in makers:
        sys.exit(f"--with: '{name}' is none of {', '.join(makers)}, nor tagger=FOLDER")
    return makers[name]()
