"""model.safetensors of a GGUF: its tensors as bfloat16 or float32, one at a time.

The format: https://github.com/huggingface/safetensors#format.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import numpy as np

from split_server.checkpoint.gguf.blocks import Floats, floats
from split_server.checkpoint.gguf.index import Place
from split_server.checkpoint.gguf.names import Names
from split_server.checkpoint.gguf.source import Source
from split_server.errors import MalformedCheckpoint

_ITEM_BYTES = {"bfloat16": 2, "float32": 4}
_DTYPES = {"bfloat16": "BF16", "float32": "F32"}
# A matrix is read so many rows at a time, about a megabyte of values.
_VALUES_AT_ONCE = 1 << 18


def weights_size(places: Mapping[str, Place], dtype: str) -> int:
    """Bytes of values that the file will have."""
    return sum(_values(place) for place in places.values()) * _ITEM_BYTES[dtype]


def write_weights(
    target: BinaryIO,
    source: Source,
    places: Mapping[str, Place],
    new_names: Mapping[str, str],
    names: Names,
    config: Mapping[str, Any],
    dtype: str,
) -> None:
    """All tensors under their new names. Raises MalformedCheckpoint, OSError."""
    header, end = {}, 0
    for old, place in places.items():
        size = _values(place) * _ITEM_BYTES[dtype]
        header[new_names[old]] = {
            "dtype": _DTYPES[dtype],
            "shape": place.shape,
            "data_offsets": (end, end + size),
        }
        end += size
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    text += b" " * (-len(text) % 8)
    target.write(struct.pack("<Q", len(text)) + text)
    for old, place in places.items():
        for values in _parts(source, old, place, names, config):
            target.write(_stored(values, dtype))


def _parts(
    source: Source, name: str, place: Place, names: Names, config: Mapping[str, Any]
) -> Iterator[Floats]:
    """A tensor's values, changed as its family wants them; a matrix that is not changed comes in
    parts of some rows."""
    rows = place.shape[0]
    whole = len(place.shape) == 1 or names.change(name) is not None
    at_once = rows if whole else max(1, _VALUES_AT_ONCE * rows // _values(place))
    for first in range(0, rows, at_once):
        count = min(at_once, rows - first)
        data = source.read(place.offset + first * place.size // rows, count * place.size // rows)
        try:
            values = floats(data, place.kind).reshape(count, *place.shape[1:])
        except MalformedCheckpoint as error:
            raise MalformedCheckpoint(f"{name}: {error}") from error
        change = names.change(name)
        yield values if change is None else change(values, config)


def _values(place: Place) -> int:
    return math.prod(place.shape)


def _stored(values: Floats, dtype: str) -> bytes:
    """Little endian; bfloat16 is rounded to nearest, ties to even, as torch does."""
    if dtype == "float32":
        return values.astype("<f4").tobytes()
    bits = np.ascontiguousarray(values).view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)
    return (rounded >> 16).astype("<u2").tobytes()
