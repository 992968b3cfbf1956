"""A corpus read, perturbed and written, with the measured rate beside it: all of it or nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from workup.corpora.formats.spans import native_jsonl
from workup.corpora.formats.spans.any_format import read_documents
from workup.corpora.formats.spans.conversion import chosen_format
from workup.corpora.noise.document import NoiseMeasure, add_noise
from workup.corpora.writer import workshop
from workup.errors import InputError
from workup.files.disk import replace_whole
from workup.files.output_paths import said
from workup.version import __version__

VERSION = "1"  # of the kinds, their tables and what is drawn: equal seeds give equal bytes within one version only


def write_noisy(
    source: Path,
    out: Path,
    *,
    kind: str,
    rate: float,
    on: str,
    seed: int,
    read_as: str = "",
    offsets: str = "codepoint",
) -> tuple[dict[str, Any], list[Path]]:
    """Perturb a corpus in any format into `out` (.jsonl); `<stem>.noise.json` beside it holds what was measured."""
    source, out = Path(source), Path(out)
    stem = out.name.removesuffix(".jsonl")
    beside = out.with_name(f"{stem}.noise.json")
    if stem == out.name or not stem or not out.parent.is_dir() or out.resolve() == source.resolve():
        raise InputError(
            "a .jsonl file apart from the input, in a folder that exists, was expected",
            where=str(out),
            remedy="name another output, one that ends in .jsonl",
        )
    measure = NoiseMeasure()
    format = chosen_format(source, read_as).name
    documents = read_documents(source, format=format, offsets=offsets)
    noisy = add_noise(documents, kind=kind, rate=rate, on=on, seed=seed, measure=measure)  # type: ignore[arg-type]
    libraries = {"workup": __version__, "noise": VERSION, "numpy": np.__version__}
    expected = "the output must be a place that can be written"
    remedy = "name a place in a folder that you may write to and that has room"
    with said(out, expected=expected, remedy=remedy), workshop([beside, out]) as room:
        native_jsonl.write(noisy, room / out.name)
        record = {"source": source.name, "out": out.name, "seed": seed, **measure.record(), "libraries": libraries}
        replace_whole(room / beside.name, [json.dumps(record, indent=1, ensure_ascii=False) + "\n"])
    return record, [out, beside]
