"""The classes that an ONNX classifier names, read from its bytes, since onnxruntime does not tell. Runs no model.

Of the many fields of the file only model.graph.node.attribute is walked.
"""

from __future__ import annotations

from workup.systems.risk.onnx_bytes import children, fields, varint

# Field numbers of onnx.proto: ModelProto.graph, GraphProto.node, NodeProto.attribute, and of AttributeProto.
_GRAPH, _NODE, _ATTRIBUTE, _NAME, _INTS, _STRINGS = 7, 1, 5, 1, 8, 9


def class_labels(content: bytes) -> list[int] | list[str] | None:
    """The classes in the order of the probability columns; None where no node names any, or two disagree."""
    found: list[list[int] | list[str]] = []
    try:
        for graph in children(memoryview(content), _GRAPH):
            for node in children(graph, _NODE):
                for attribute in children(node, _ATTRIBUTE):
                    labels = _labels(attribute)
                    if labels and labels not in found:
                        found.append(labels)
    except (IndexError, ValueError):  # not the layout that is known here, so nothing is known of its classes
        return None
    return found[0] if len(found) == 1 else None


def _labels(attribute: memoryview) -> list[int] | list[str]:
    name, numbers, texts = "", list[int](), list[str]()
    for number, value in fields(attribute):
        if isinstance(value, int):
            if number == _INTS:
                numbers.append(_signed(value))
        elif number == _NAME:
            name = bytes(value).decode()
        elif number == _STRINGS:
            texts.append(bytes(value).decode())
        elif number == _INTS:  # packed
            at = 0
            while at < len(value):
                whole, at = varint(value, at)
                numbers.append(_signed(whole))
    return (numbers or texts) if name.startswith("classlabels_") else []


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
