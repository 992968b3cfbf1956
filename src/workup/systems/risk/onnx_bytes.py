"""The fields of a protobuf message, which is what an ONNX file is, without the large `onnx` package. Knows no field."""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5


def children(message: memoryview, field: int) -> Iterator[memoryview]:
    """The messages or texts under one field."""
    return (value for number, value in fields(message) if number == field and not isinstance(value, int))


def fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Every field of a message with its number; ValueError or IndexError for bytes that are none."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        if key >> 32:  # other readers cut it to 32 bits and would see another field than is seen here
            raise ValueError("a field of more than 32 bits")
        sort = key & 7
        if sort == _VARINT:
            value, at = varint(message, at)
            yield key >> 3, value
            continue
        length = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}.get(sort)
        if length is None:
            if sort != _BYTES:
                raise ValueError("a kind of field that ONNX does not use")
            length, at = varint(message, at)
        if at + length > len(message):
            raise ValueError("a field that passes the end")
        yield key >> 3, message[at : at + length]
        at += length


def varint(message: memoryview, at: int) -> tuple[int, int]:
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
