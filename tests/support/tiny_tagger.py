"""A tagger made in a test: words have kinds by a list, and the network is two tables. Shows offsets, not skill."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from workup.deid.tagger.encoding import KINDS, TAGS

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghijklmnopqrstuvwxyz0123456789.,:;()'-/@"]
_WORD = ["##" + piece for piece in "abcdefghijklmnopqrstuvwxyz0123456789"]


def write(folder: Path, kinds: Mapping[str, str], *, sure: float = 8.0, unknown: str = "O") -> Path:
    """A folder with a tagger that gives each word of `kinds` its tag and all others `O`; `sure` is the logit."""
    from onnx import TensorProto, helper, numpy_helper

    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = list(dict.fromkeys([*PIECES, *_WORD, *kinds]))
    table = np.zeros((len(vocabulary), len(TAGS)), np.float32)
    table[:, 0] = sure
    for word, tag in {"[UNK]": unknown, **kinds}.items():
        row = np.zeros(len(TAGS), np.float32)
        row[TAGS.index(tag)] = sure
        table[vocabulary.index(word)] = row
    layout = np.zeros((KINDS, len(TAGS)), np.float32)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["B", "T"]) for name in ("ids", "kinds", "mask")]
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["table", "ids"], ["one"]),
            helper.make_node("Gather", ["layout", "kinds"], ["other"]),
            helper.make_node("Add", ["one", "other"], ["logits"]),
        ],
        "tiny",
        inputs,
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["B", "T", len(TAGS)])],
        [numpy_helper.from_array(table, "table"), numpy_helper.from_array(layout, "layout")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    network, lines = model.SerializeToString(), ("\n".join(vocabulary) + "\n").encode()
    (folder / "tagger.onnx").write_bytes(network)
    (folder / "vocab.txt").write_bytes(lines)
    files = {"tagger.onnx": network, "vocab.txt": lines}
    card = {"sha256": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}, "tags": list(TAGS)}
    (folder / "card.json").write_text(json.dumps(card), encoding="utf-8")
    curves = {"rules": [0, 0.5, 1], "tagger": [0, 0.5, 0.5], "name": [0, 0.5, 1], "tagger.NAME.clinical": [-9, 0, 0]}
    table_of = {"curves": curves, "fitted_for": hashlib.sha256(network + lines + b"0.0").hexdigest()}
    (folder / "fusion.json").write_text(json.dumps(table_of), encoding="utf-8")
    return folder
