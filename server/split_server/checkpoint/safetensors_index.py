"""The place of each tensor inside the safetensors files of a checkpoint.

The format (https://github.com/huggingface/safetensors#format): u64 LE header length, a JSON map of
name -> {dtype, shape, data_offsets}, then the raw little-endian data the offsets count from.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from split_files import open_regular
from split_server.errors import MalformedCheckpoint

_MAX_HEADER = 100 * 1024 * 1024
_ITEM_BYTES = {"F32": 4, "F16": 2, "BF16": 2, "I32": 4}
_COMPARED_BYTES = 8 * 1024 * 1024
_WIRE_NAMES = {"F32": "f32", "F16": "f16", "BF16": "bf16", "I32": "i32"}
_FLOATS = ("F32", "F16", "BF16")


@dataclass(frozen=True, slots=True)
class TensorSlice:
    """Raw little-endian values of one tensor: ``size`` bytes at ``offset`` of ``file``."""

    file: Path
    offset: int
    size: int
    dtype: str
    shape: tuple[int, ...]


def index_file(path: Path, *, words: bool = False) -> dict[str, TensorSlice]:
    """The float tensors of one safetensors file by name, and those of ``words`` of 32 bits.

    Raises MalformedCheckpoint.
    """
    kinds = _ITEM_BYTES if words else _FLOATS
    try:
        with open_regular(path) as file:
            header, data_start = _read_header(file)
    except (OSError, ValueError, TypeError, RecursionError, struct.error) as error:
        raise MalformedCheckpoint(f"{path.name} is not a readable safetensors file") from error
    end = path.stat().st_size
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry.get("dtype") not in kinds:
            continue
        tensors[name] = _slice(path, name, entry, data_start, end)
    return tensors


def _read_header(file: Any) -> tuple[dict[str, Any], int]:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > _MAX_HEADER:
        raise ValueError(length)
    header = json.loads(file.read(length))
    if not isinstance(header, dict) or not all(isinstance(v, dict) for v in header.values()):
        raise TypeError
    return header, 8 + length


def _slice(path: Path, name: str, entry: dict[str, Any], start: int, end: int) -> TensorSlice:
    try:
        first, last = entry["data_offsets"]
        shape = tuple(int(side) for side in entry["shape"])
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedCheckpoint(f"{path.name} describes {name} badly") from error
    size = last - first
    wanted = math.prod(shape) * _ITEM_BYTES[entry["dtype"]]
    if first < 0 or size != wanted or start + last > end:
        raise MalformedCheckpoint(
            f"{path.name} is cut short or describes {name} badly; fetch it again"
        )
    return TensorSlice(path, start + first, size, _WIRE_NAMES[entry["dtype"]], shape)


def same_values(one: TensorSlice, other: TensorSlice) -> bool:
    """Whether two tensors have the same dtype, shape and bytes. Raises MalformedCheckpoint."""
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return False
    try:
        with one.file.open("rb") as left, other.file.open("rb") as right:
            left.seek(one.offset)
            right.seek(other.offset)
            for start in range(0, one.size, _COMPARED_BYTES):
                length = min(_COMPARED_BYTES, one.size - start)
                if left.read(length) != right.read(length):
                    return False
    except OSError as error:
        raise MalformedCheckpoint(f"{one.file.name} cannot be read") from error
    return True
