"""A ``split.v1`` frame: a fixed prefix, a msgpack map, then raw tensors.

::

    0   4   magic "SPL1"
    4   4   header length n, u32 little endian
    8   n   header: one msgpack map; its key "tensors" is a list of [name, dtype, [rows, width]]
    ..      zero bytes up to the next multiple of 8, then the first tensor;
            every further tensor (and the scales of an i8 tensor) starts at the next multiple of 8
            from the frame's start, with zero bytes between;
            the frame ends with the last tensor's last byte

Offsets follow from the shapes, so no field can point outside the frame or make two tensors overlap.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgpack

from split_wire.errors import FrameTooLarge, MalformedFrame, MalformedMessage
from split_wire.tensor import Tensor, TensorDtype, align, item_size, wire_dtype

MAGIC = b"SPL1"
_PREFIX = struct.Struct("<4sI")
MAX_HEADER_BYTES = 64 * 1024
MAX_TENSORS = 64
# The unpacker reserves room for an array before it reads the items: 64 KiB of nested array heads
# would otherwise cost tens of megabytes.
MAX_ITEMS = 1024
_MAX_SIDE = 1 << 28
# The only names under which whole numbers travel; a row of them is a wrong dtype.
_WHOLE_NUMBERS = frozenset({"attention_positions"})
# What the unpacker raises on hostile bytes; its own classes do not all share a base.
_UNPACK_ERRORS = (
    ValueError,
    TypeError,
    OverflowError,
    RecursionError,
    msgpack.exceptions.UnpackException,
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A decoded frame: its header without the tensor list, and its tensors by name."""

    header: Mapping[str, Any]
    tensors: Mapping[str, Tensor] = field(default_factory=dict)


def encode_frame(frame: Frame) -> bytes:
    """The bytes of ``frame``. Raises FrameTooLarge when its header outgrows the limit."""
    described = dict(frame.header)
    if frame.tensors:
        described["tensors"] = [[n, t.dtype, list(t.shape)] for n, t in frame.tensors.items()]
    header = msgpack.packb(described)
    if len(header) > MAX_HEADER_BYTES:
        raise FrameTooLarge(len(header), MAX_HEADER_BYTES)
    parts: list[bytes | memoryview] = [_PREFIX.pack(MAGIC, len(header)), header]
    position = _PREFIX.size + len(header)
    for tensor in frame.tensors.values():
        for data in (tensor.data, tensor.scales) if tensor.dtype == "i8" else (tensor.data,):
            start = align(position)
            parts += [bytes(start - position), data]
            position = start + len(data)
    return b"".join(parts)


def is_frame(data: bytes | memoryview) -> bool:
    """Whether ``data`` begins like a frame."""
    return bytes(data[:4]) == MAGIC


def decode_frame(data: bytes, max_bytes: int) -> Frame:
    """Parse a whole frame; tensors are views into ``data``.

    Raises FrameTooLarge, MalformedFrame, MalformedMessage, WrongDtype.
    """
    if len(data) > max_bytes:
        raise FrameTooLarge(len(data), max_bytes)
    header, end = _read_header(data)
    described = header.pop("tensors", [])
    if not isinstance(described, list) or len(described) > MAX_TENSORS:
        raise MalformedMessage(f"'tensors' must be a list of at most {MAX_TENSORS}")
    reader = _TensorReader(memoryview(data), end)
    tensors = {}
    for entry in described:
        name, dtype, shape = _description(entry)
        if name in tensors:
            raise MalformedMessage(f"two tensors are called {name[:40]!r}")
        tensors[name] = reader.read(dtype, shape)
    reader.require_end()
    return Frame(header, tensors)


def _read_header(data: bytes) -> tuple[dict[str, Any], int]:
    if len(data) < _PREFIX.size:
        raise MalformedFrame(f"{len(data)} bytes are shorter than the prefix")
    magic, length = _PREFIX.unpack_from(data)
    if magic != MAGIC:
        raise MalformedFrame("the magic is missing")
    end = _PREFIX.size + length
    if length > MAX_HEADER_BYTES or end > len(data):
        raise MalformedFrame(f"a header of {length} bytes does not fit")
    try:
        header = msgpack.unpackb(
            data[_PREFIX.size : end],
            strict_map_key=True,
            max_array_len=MAX_ITEMS,
            max_map_len=MAX_ITEMS,
        )
    except _UNPACK_ERRORS as error:
        raise MalformedFrame("the header is not msgpack") from error
    if not isinstance(header, dict) or not all(isinstance(key, str) for key in header):
        raise MalformedFrame("the header is not a map with text keys")
    return header, end


def _description(entry: object) -> tuple[str, TensorDtype, tuple[int, int]]:
    match entry:
        case [str(name), dtype, [int(rows), int(width)]] if _is_shape(rows, width):
            whole = dtype == "i32" and name in _WHOLE_NUMBERS
            return name, "i32" if whole else wire_dtype(dtype), (rows, width)
    raise MalformedMessage("a tensor is described as [name, dtype, [rows, width]]")


def _is_shape(rows: int, width: int) -> bool:
    # A bool is an int to Python, not to the wire.
    if isinstance(rows, bool) or isinstance(width, bool):
        return False
    return 0 <= rows <= _MAX_SIDE and 0 < width <= _MAX_SIDE


class _TensorReader:
    def __init__(self, data: memoryview, position: int) -> None:
        self._data = data
        self._position = position

    def read(self, dtype: TensorDtype, shape: tuple[int, int]) -> Tensor:
        rows, width = shape
        values = self._take(rows * width * item_size(dtype))
        scales = self._take(4 * rows) if dtype == "i8" else b""
        return Tensor(dtype, shape, values, scales)

    def _take(self, size: int) -> memoryview:
        start = align(self._position)
        if start + size > len(self._data):
            raise MalformedFrame("it ends inside a tensor")
        if any(self._data[self._position : start]):
            raise MalformedFrame("the padding before a tensor is not zero")
        self._position = start + size
        return self._data[start : self._position]

    def require_end(self) -> None:
        if self._position != len(self._data):
            raise MalformedFrame(f"{len(self._data) - self._position} bytes are left over")
