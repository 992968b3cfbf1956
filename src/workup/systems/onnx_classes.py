"""The classes that an ONNX classifier names, read from its bytes, since onnxruntime does not tell. Runs no model.

An ONNX file is a protobuf message; of its many fields only model.graph.node.attribute is walked, so that the large
`onnx` package is not needed for a list of two names.
"""

from __future__ import annotations

from collections.abc import Iterator

# Field numbers of onnx.proto: ModelProto.graph, GraphProto.node, NodeProto.attribute, and of AttributeProto.
_GRAPH, _NODE, _ATTRIBUTE, _NAME, _INTS, _STRINGS = 7, 1, 5, 1, 8, 9
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5


def class_labels(content: bytes) -> list[int] | list[str] | None:
    """The classes in the order of the probability columns; None where no node names any, or two disagree."""
    found: list[list[int] | list[str]] = []
    try:
        for graph in _children(memoryview(content), _GRAPH):
            for node in _children(graph, _NODE):
                for attribute in _children(node, _ATTRIBUTE):
                    labels = _labels(attribute)
                    if labels and labels not in found:
                        found.append(labels)
    except (IndexError, ValueError):  # not the layout that is known here, so nothing is known of its classes
        return None
    return found[0] if len(found) == 1 else None


def _labels(attribute: memoryview) -> list[int] | list[str]:
    name, numbers, texts = "", list[int](), list[str]()
    for number, value in _fields(attribute):
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
                whole, at = _varint(value, at)
                numbers.append(_signed(whole))
    return (numbers or texts) if name.startswith("classlabels_") else []


def _children(message: memoryview, field: int) -> Iterator[memoryview]:
    return (value for number, value in _fields(message) if number == field and not isinstance(value, int))


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        sort = key & 7
        if sort == _VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        length = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}.get(sort)
        if length is None:
            if sort != _BYTES:
                raise ValueError("a kind of field that ONNX does not use")
            length, at = _varint(message, at)
        if at + length > len(message):
            raise ValueError("a field that passes the end")
        yield key >> 3, message[at : at + length]
        at += length


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
