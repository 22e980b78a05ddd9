"""A writer for the few parts of the ONNX format that one operator needs.

Field numbers are those of ``onnx.proto`` (ONNX IR version 8), the encoding is protocol buffers':
https://protobuf.dev/programming-guides/encoding/
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Final

# Operators of onnxruntime beside the ONNX standard.
MICROSOFT: Final = "com.microsoft"

_IR_VERSION: Final = 8
_OPSET: Final = 17
_MICROSOFT_OPSET: Final = 1
_EXTERNAL: Final = 1  # TensorProto.DataLocation
_INT: Final = 2  # AttributeProto.AttributeType


class Element(IntEnum):
    """TensorProto.DataType."""

    FLOAT = 1
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


def node(
    operator: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    *,
    domain: str = "",
    attributes: Mapping[str, int] | None = None,
) -> bytes:
    """A NodeProto; ``domain``: its operator set, "" is the standard's."""
    described = b"".join(_attribute(name, number) for name, number in (attributes or {}).items())
    return (
        _fields(1, inputs)
        + _fields(2, outputs)
        + _field(4, operator)
        + described
        + _field(7, domain)
    )


def _attribute(name: str, number: int) -> bytes:
    return _field(5, _field(1, name) + _field(3, number) + _field(20, _INT))


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
    operator_sets = (
        _field(1, domain) + _field(2, version)
        for domain, version in (("", _OPSET), (MICROSOFT, _MICROSOFT_OPSET))
    )
    return _field(1, _IR_VERSION) + _fields(8, operator_sets) + _field(7, graph)
