"""Configurations against corpora in one table: what leaks, what is masked in vain, and how sure that is.

    python -m training.evaluate --data DIR [--size small|full] [--model DIR] [--with rules,tagger,presidio,…]
                                [--on injected,tab,…] [--misses] [--json out.json]

Answers are kept beside this file, so that another model costs its own reading alone. Out-of-domain corpora come first;
the corpora of the same family, whose makers wrote the rules too, stand apart.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from training.evaluate.configurations import WithRegister, by_name
from training.evaluate.corpora import CASED, CASES, FAMILY, FULL, MAKERS, OUTSIDE, SMALL, WITHOUT, Corpus, Sizes
from training.evaluate.scores import FULL_MASKED, OVER_REDACTION, Outcome, difference, outcome, ratio_of_leaks


def corpora(asked: Sequence[str], data: Path, sizes: Sizes) -> Iterable[tuple[str, Corpus]]:
    """The corpora by name; one whose file is missing is told and left out."""
    for name in asked:
        if name not in MAKERS:
            sys.exit(f"--on: '{name}' is none of {', '.join(MAKERS)}")
        try:
            yield name, MAKERS[name](data, sizes)
        except FileNotFoundError as missing:
            print(f"left out: {name} ({missing.filename} is not there)", file=sys.stderr)


def table(outcomes: Sequence[Outcome], kind: str) -> list[str]:
    """The rows of one kind of corpora."""
    columns = (
        ("intact", "over-redaction", "specificity")
        if kind == WITHOUT
        else ("leak", "full mask", "documents that leak", "over-redaction", "F1", "intact")
    )
    rows = [f"| {kind} | configuration | n | " + " | ".join(columns) + " |", "|---" * (len(columns) + 3) + "|"]
    for one in outcomes:
        if one.corpus.kind == kind:
            golds = sum(one.golds.values())
            size = f"{len(one.corpus.documents):,}" + (f" / {golds:,}" if golds else "")
            figures = " | ".join(str(one.figures[name]) for name in columns)
            rows.append(f"| {one.corpus.name} | {one.configuration} | {size} | {figures} |")
    return rows if len(rows) > 2 else []


def held_against(outcomes: Sequence[Outcome], first: str) -> list[str]:
    """What one configuration leaves visible and masks in vain, against each other one on the same corpus."""
    rows = [
        f"| corpus | {first} against | leak, share of the other's % | over-redaction, points more |",
        "|---|---|---|---|",
    ]
    mine = {one.corpus.name: one for one in outcomes if one.configuration == first}
    for one in outcomes:
        if one.configuration != first and one.corpus.name in mine:
            base = mine[one.corpus.name]
            ratio = ratio_of_leaks(base, one) if one.corpus.kind != WITHOUT else "–"
            more = difference(base, one, OVER_REDACTION)
            rows.append(f"| {one.corpus.name} | {one.configuration} | {ratio} | {more} |")
    return rows if len(rows) > 2 else []


def by_case(outcomes: Sequence[Outcome]) -> list[str]:
    """Full-mask recall of the same documents as written, in small letters and in capitals."""
    rows = [
        "| corpus | configuration | n | full mask, as written | lower | upper | lower, points | upper, points |",
        "|---|---|---|---|---|---|---|---|",
    ]
    found = {(one.corpus.name, one.configuration): one for one in outcomes}
    for (name, configuration), one in found.items():
        corpus, as_written = name.removesuffix(", as written"), name.endswith(", as written")
        if as_written:
            others = [found[f"{corpus}, {case}", configuration] for case in CASES]
            shown = [str(each.figures["full mask"]) for each in others]
            shown += [str(difference(each, one, FULL_MASKED)) for each in others[1:]]
            size = f"{len(one.corpus.documents):,} / {sum(one.golds.values()):,}"
            rows.append(f"| {corpus} | {configuration} | {size} | " + " | ".join(shown) + " |")
    return rows if len(rows) > 2 else []


def with_register(outcomes: Sequence[Outcome]) -> list[str]:
    """How much of what a register knows of the patient is masked, on the corpora that have one."""
    rows = ["| corpus | configuration | mentions of what the register knows | masked whole |", "|---|---|---|---|"]
    for one in outcomes:
        if one.registered.of and one.corpus.name.startswith("injected"):
            rows.append(f"| {one.corpus.name} | {one.configuration} | {one.registered.of:,.0f} | {one.registered} |")
    return rows if len(rows) > 2 else []


def classes(one: Outcome) -> str:
    """Misses and false alarms by label, the most frequent first."""
    missed = ", ".join(f"{label} {count} of {one.golds[label]}" for label, count in one.misses.most_common() if count)
    alarms = ", ".join(f"{label} {count}" for label, count in one.false_alarms.most_common())
    return f"{one.corpus.name} · {one.configuration}: missed {missed or 'none'}; in vain {alarms or 'none'}"


def record(one: Outcome) -> dict[str, Any]:
    """As plain data."""
    return {
        "corpus": one.corpus.name,
        "kind": one.corpus.kind,
        "configuration": one.configuration,
        "documents": len(one.corpus.documents),
        "registered": one.registered.record(),
        "figures": {name: figure.record() for name, figure in one.figures.items()},
        "golds": dict(one.golds),
        "misses": {label: count for label, count in one.misses.items() if count},
        "false_alarms": dict(one.false_alarms),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.evaluate", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with mtsamples, presidio_synth and tab")
    parser.add_argument("--size", choices=("small", "full"), default="small")
    parser.add_argument("--with", dest="using", default="rules,presidio,presidio+org")
    parser.add_argument("--model", type=Path, help="folder of a tagger's model; the shipped one when absent")
    parser.add_argument("--on", default=",".join(MAKERS))
    parser.add_argument("--cases", action="store_true", help="the same documents in small letters and in capitals too")
    parser.add_argument("--misses", action="store_true", help="misses and false alarms by label")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    sizes = SMALL if asked.size == "small" else FULL
    using = by_name(asked.using.split(","), asked.model)
    plain: list[Outcome] = []
    cased: list[Outcome] = []

    def read(corpus: Corpus, kept: list[Outcome]) -> None:
        for one in using:
            if isinstance(one, WithRegister) and not corpus.name.startswith("injected"):
                continue
            print(f"… {corpus.name}, {one.name}", file=sys.stderr, flush=True)
            kept.append(outcome(corpus, one.name, one.answers(corpus), one.mapping))

    for name, corpus in corpora(asked.on.split(","), asked.data, sizes):
        read(corpus, plain)
        if asked.cases and name in CASED:
            for case in CASES:
                read(corpus.cased(case, sizes.cased), cased)
    parts = [table(plain, kind) for kind in (OUTSIDE, FAMILY, WITHOUT)]
    parts += [held_against(plain, using[0].name), by_case(cased), with_register(plain)]
    if asked.misses:
        parts.append([classes(one) for one in (*plain, *cased)])
    print("\n\n".join("\n".join(part) for part in parts if part))
    if asked.json:
        asked.json.write_text(json.dumps([record(one) for one in (*plain, *cased)], indent=1) + "\n")


if __name__ == "__main__":
    main()
