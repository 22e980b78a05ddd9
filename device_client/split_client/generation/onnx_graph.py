"""A writer for the few parts of the ONNX format that one operator needs.

Field numbers are those of ``onnx.proto`` (ONNX IR version 8), the encoding is protocol buffers':
https://protobuf.dev/programming-guides/encoding/
"""

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Final

_IR_VERSION: Final = 8
_OPSET: Final = 17
_EXTERNAL: Final = 1  # TensorProto.DataLocation


class Element(IntEnum):
    """TensorProto.DataType."""

    UINT8 = 2
    INT8 = 3
    INT32 = 6


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    payload = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def _fields(number: int, values: Iterable[int | str | bytes]) -> bytes:
    return b"".join(_field(number, value) for value in values)


def node(operator: str, inputs: Sequence[str], outputs: Sequence[str]) -> bytes:
    """A NodeProto of the default operator set, without attributes."""
    return _fields(1, inputs) + _fields(2, outputs) + _field(4, operator)


def value(name: str, element: Element, shape: Sequence[int]) -> bytes:
    """A ValueInfoProto: a graph input or output of fixed shape."""
    dimensions = _fields(1, (_field(1, size) for size in shape))
    tensor_type = _field(1, element) + _field(2, dimensions)
    return _field(1, name) + _field(2, _field(1, tensor_type))


def external(name: str, element: Element, shape: Sequence[int]) -> bytes:
    """A TensorProto whose data the caller hands to the session (``add_external_initializers``)."""
    location = _field(1, "location") + _field(2, name)
    return (
        _fields(1, shape)
        + _field(2, element)
        + _field(8, name)
        + _field(13, location)
        + _field(14, _EXTERNAL)
    )


def model(
    nodes: Sequence[bytes],
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
    initializers: Sequence[bytes] = (),
) -> bytes:
    """A serialised ModelProto."""
    graph = (
        _fields(1, nodes)
        + _field(2, "graph")
        + _fields(5, initializers)
        + _fields(11, inputs)
        + _fields(12, outputs)
    )
    operator_set = _field(1, "") + _field(2, _OPSET)
    return _field(1, _IR_VERSION) + _field(8, operator_set) + _field(7, graph)
