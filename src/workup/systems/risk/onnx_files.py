"""The files that an ONNX model rests on: itself, and those that hold weights it keeps elsewhere. Runs no model.

A model can name files for its weights (`external_data`), which onnxruntime opens by itself. They must lie in the folder
of the model or below, and they belong to what a pin covers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from workup.errors import InputError
from workup.systems.risk.onnx_bytes import children, fields
from workup.systems.risk.private_copy import PrivateCopy, names_and_contents

# Field numbers of onnx.proto.
_MODEL_GRAPH, _TRAINING, _FUNCTIONS = 7, 20, 25
_TRAINING_GRAPHS = (1, 2)
_FUNCTION_NODE, _FUNCTION_ATTRIBUTE = 7, 11
_NODE, _INITIALIZER, _SPARSE_INITIALIZER = 1, 5, 15
_ATTRIBUTE = 5
_TENSORS, _GRAPHS, _SPARSE_TENSORS = (5, 10), (6, 11), (22, 23)  # of an attribute: one, and a list
_VALUES, _INDICES = 1, 2
_EXTERNAL_DATA, _KEY, _VALUE = 13, 1, 2
_DEEPEST = 100  # graphs within graphs, as far as protobuf reads messages


def external_files(content: bytes) -> list[str]:
    """The names of the files that a model keeps weights in; ValueError or IndexError for bytes that are no model."""
    model = memoryview(content)
    found: set[str] = set()
    for graph in children(model, _MODEL_GRAPH):
        found.update(_of_graph(graph, _DEEPEST))
    for training in children(model, _TRAINING):
        for field in _TRAINING_GRAPHS:
            for graph in children(training, field):
                found.update(_of_graph(graph, _DEEPEST))
    for function in children(model, _FUNCTIONS):
        for node in children(function, _FUNCTION_NODE):
            for attribute in children(node, _ATTRIBUTE):
                found.update(_of_attribute(attribute, _DEEPEST))
        for attribute in children(function, _FUNCTION_ATTRIBUTE):
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
    for tensor in children(graph, _INITIALIZER):
        yield from _of_tensor(tensor)
    for sparse in children(graph, _SPARSE_INITIALIZER):
        yield from _of_sparse(sparse)
    for node in children(graph, _NODE):
        for attribute in children(node, _ATTRIBUTE):
            yield from _of_attribute(attribute, depth)


def _of_attribute(attribute: memoryview, depth: int) -> Iterator[str]:
    if depth == 0:
        raise ValueError("graphs within graphs that no library reads")
    for field, value in fields(attribute):
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
        for tensor in children(sparse, field):
            yield from _of_tensor(tensor)


def _of_tensor(tensor: memoryview) -> Iterator[str]:
    for entry in children(tensor, _EXTERNAL_DATA):
        # The last of several counts, as in every reader of protobuf.
        said = {field: value for field, value in fields(entry) if not isinstance(value, int)}
        if bytes(said.get(_KEY, b"")) == b"location":
            yield bytes(said.get(_VALUE, b"")).decode()
