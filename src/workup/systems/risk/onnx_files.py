"""What an ONNX file says of itself, read from its bytes: the files that it rests on, and the classes that it names.

A model can name files for its weights (`external_data`), which onnxruntime opens by itself. They must lie in the folder
of the model or below, and they belong to what a pin covers. Of its classes onnxruntime does not tell. The file is a
protobuf message, whose fields are walked here without the large `onnx` package. Runs no model.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from workup.errors import InputError
from workup.systems.pinned import PrivateCopy, names_and_contents

# Field numbers of onnx.proto.
_MODEL_GRAPH, _TRAINING, _FUNCTIONS = 7, 20, 25
_TRAINING_GRAPHS = (1, 2)
_FUNCTION_NODE, _FUNCTION_ATTRIBUTE = 7, 11
_NODE, _INITIALIZER, _SPARSE_INITIALIZER = 1, 5, 15
_ATTRIBUTE = 5
_TENSORS, _GRAPHS, _SPARSE_TENSORS = (5, 10), (6, 11), (22, 23)  # of an attribute: one, and a list
_VALUES, _INDICES = 1, 2
_EXTERNAL_DATA, _KEY, _VALUE = 13, 1, 2
_NAME, _INTS, _STRINGS = 1, 8, 9  # of an attribute
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5  # how a field of protobuf is written
_DEEPEST = 100  # graphs within graphs, as far as protobuf reads messages


def external_files(content: bytes) -> list[str]:
    """The names of the files that a model keeps weights in; ValueError or IndexError for bytes that are no model."""
    model = memoryview(content)
    found: set[str] = set()
    for graph in _children(model, _MODEL_GRAPH):
        found.update(_of_graph(graph, _DEEPEST))
    for training in _children(model, _TRAINING):
        for field in _TRAINING_GRAPHS:
            for graph in _children(training, field):
                found.update(_of_graph(graph, _DEEPEST))
    for function in _children(model, _FUNCTIONS):
        for node in _children(function, _FUNCTION_NODE):
            for attribute in _children(node, _ATTRIBUTE):
                found.update(_of_attribute(attribute, _DEEPEST))
        for attribute in _children(function, _FUNCTION_ATTRIBUTE):
            found.update(_of_attribute(attribute, _DEEPEST))
    return sorted(found)


def with_external_files(file: Path, content: bytes, names: list[str], *, where: str) -> PrivateCopy:
    """A private copy of the model and of the files it names, which must lie in its own folder or below."""
    copy = PrivateCopy()
    (copy.folder / file.name).write_bytes(content)
    copy.files[file.name] = hashlib.sha256(content).digest()
    folder = file.parent
    for name in names:
        path = PurePosixPath(name)
        parts = path.parts
        if path.is_absolute() or not parts or ".." in parts or "\\" in name or "\0" in name or ":" in parts[0]:
            raise _outside(where)
        if str(path) in copy.files:
            continue
        above = [folder.joinpath(*parts[:depth]) for depth in range(1, len(parts))]
        if any(one.is_symlink() for one in above):
            raise _outside(where)
        copy.add(folder, str(path), where=where)
    return copy


def pin_of(copy: PrivateCopy) -> str:
    """sha256 of the names and contents of the model and of all files it keeps weights in."""
    return names_and_contents(copy.files.items())


def _outside(where: str) -> InputError:
    return InputError(
        "files that an ONNX model keeps its weights in must lie in its own folder or below",
        where=where,
        got="a name that leads elsewhere",
        remedy="save the model with its weights inside (onnx.save_model), or with files beside it",
    )


def _of_graph(graph: memoryview, depth: int) -> Iterator[str]:
    for tensor in _children(graph, _INITIALIZER):
        yield from _of_tensor(tensor)
    for sparse in _children(graph, _SPARSE_INITIALIZER):
        yield from _of_sparse(sparse)
    for node in _children(graph, _NODE):
        for attribute in _children(node, _ATTRIBUTE):
            yield from _of_attribute(attribute, depth)


def _of_attribute(attribute: memoryview, depth: int) -> Iterator[str]:
    if depth == 0:
        raise ValueError("graphs within graphs that no library reads")
    for field, value in _fields(attribute):
        if isinstance(value, int):
            continue
        if field in _TENSORS:
            yield from _of_tensor(value)
        elif field in _SPARSE_TENSORS:
            yield from _of_sparse(value)
        elif field in _GRAPHS:
            yield from _of_graph(value, depth - 1)


def _of_sparse(sparse: memoryview) -> Iterator[str]:
    for field in (_VALUES, _INDICES):
        for tensor in _children(sparse, field):
            yield from _of_tensor(tensor)


def _of_tensor(tensor: memoryview) -> Iterator[str]:
    for entry in _children(tensor, _EXTERNAL_DATA):
        # The last of several counts, as in every reader of protobuf.
        said = {field: value for field, value in _fields(entry) if not isinstance(value, int)}
        if bytes(said.get(_KEY, b"")) == b"location":
            yield bytes(said.get(_VALUE, b"")).decode()


# ---- classes ---------------------------------------------------------------------------------------------------------


def class_labels(content: bytes) -> list[int] | list[str] | None:
    """The classes in the order of the probability columns; None where no node names any, or two disagree."""
    found: list[list[int] | list[str]] = []
    try:
        for graph in _children(memoryview(content), _MODEL_GRAPH):
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


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


# ---- fields of a protobuf message ------------------------------------------------------------------------------------


def _children(message: memoryview, field: int) -> Iterator[memoryview]:
    """The messages or texts under one field."""
    return (value for number, value in _fields(message) if number == field and not isinstance(value, int))


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Every field of a message with its number; ValueError or IndexError for bytes that are none."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        if key >> 32:  # other readers cut it to 32 bits and would see another field than is seen here
            raise ValueError("a field of more than 32 bits")
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
    """A whole number, and where it ends."""
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
