"""Where everything lies in a layer file, and its index.

A file begins with magic bytes, the length of its index (u32 LE), the BLAKE2b of that, and the index
in JSON: source, and of each layer its digest and its tensors' names, dtypes and shapes. Index and
layers begin and end at multiples of 4,096, as reads past the page cache want it; tensors begin at
multiples of 64 within their layer. Places are not written down: they follow from the shapes.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import accumulate
from typing import Any, Final

from split_files import DocumentInvalid, is_version, parse_document
from split_server.checkpoint.layers.errors import LayerFileDamaged

ALIGNMENT: Final = 4096
DIGEST_BYTES: Final = 32
MAX_INDEX_BYTES: Final = 16 << 20
_VERSION = 1
_MAGIC = b"GLLAYERS"
_HEAD = struct.Struct(f"<8sI{DIGEST_BYTES}s")
HEAD_BYTES: Final = _HEAD.size
_TENSOR_ALIGNMENT = 64
# Bytes in the order of a kernel are raw.
_ITEM_BYTES = {"f32": 4, "f16": 2, "bf16": 2, "raw": 1}
_MOST_DIMENSIONS = 8


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """Raw little-endian values of one tensor, ``offset`` bytes behind the begin of its layer."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int = 0

    @property
    def size(self) -> int:
        """Bytes."""
        return math.prod(self.shape) * _ITEM_BYTES[self.dtype]


@dataclass(frozen=True, slots=True)
class StoredLayer:
    """``size`` bytes, zeros between and behind its tensors included, with a BLAKE2b ``digest``."""

    tensors: tuple[StoredTensor, ...]
    size: int
    digest: bytes = bytes(DIGEST_BYTES)


@dataclass(frozen=True, slots=True)
class LayerIndex:
    """``source`` names what the layers were made of."""

    source: str
    layers: tuple[StoredLayer, ...]

    @property
    def largest(self) -> int:
        """Bytes of the largest layer."""
        return max(layer.size for layer in self.layers)

    def offsets(self) -> list[int]:
        """Where each layer begins in the file, and at last where the file ends."""
        sizes = [layer.size for layer in self.layers]
        return list(accumulate(sizes, initial=len(self.encoded())))

    def with_digests(self, digests: Sequence[bytes]) -> LayerIndex:
        """The same places, with the digests of what lies there."""
        pairs = zip(self.layers, digests, strict=True)
        return replace(self, layers=tuple(replace(one, digest=digest) for one, digest in pairs))

    def encoded(self) -> bytes:
        """The begin of the file, up to the first layer; as long whatever the digests are."""
        layers = [[layer.digest.hex(), _listed(layer)] for layer in self.layers]
        document = {"version": _VERSION, "source": self.source, "layers": layers}
        data = json.dumps(document, separators=(",", ":")).encode()
        head = _HEAD.pack(_MAGIC, len(data), _digest(data))
        return (head + data).ljust(_up(len(head) + len(data), ALIGNMENT), b"\0")


def laid_out(tensors: Sequence[StoredTensor]) -> StoredLayer:
    """A layer of ``tensors``, one behind the other."""
    placed, end = [], 0
    for tensor in tensors:
        begin = _up(end, _TENSOR_ALIGNMENT)
        placed.append(replace(tensor, offset=begin))
        end = begin + tensor.size
    return StoredLayer(tuple(placed), _up(end, ALIGNMENT))


def index_bytes(head: bytes) -> int:
    """Bytes of the index behind ``head``. Raises LayerFileDamaged."""
    if len(head) != HEAD_BYTES or not head.startswith(_MAGIC):
        raise LayerFileDamaged("it is not a layer file")
    _, size, _ = _HEAD.unpack(head)
    if size > MAX_INDEX_BYTES:
        raise LayerFileDamaged("its index is too long")
    return int(size)


def parse_index(head: bytes, data: bytes) -> LayerIndex:
    """The index ``data`` behind ``head``. Raises LayerFileDamaged."""
    if len(data) != index_bytes(head) or _HEAD.unpack(head)[2] != _digest(data):
        raise LayerFileDamaged("its index is not what was written")
    try:
        document = parse_document(data)
        if not is_version(document["version"], _VERSION):
            raise LayerFileDamaged("it is of another version")
        layers = tuple(_layer(*one) for one in document["layers"])
        if not layers or not isinstance(document["source"], str):
            raise LayerFileDamaged("its index describes no layers")
    except (DocumentInvalid, KeyError, TypeError, ValueError) as error:
        raise LayerFileDamaged("its index describes its layers badly") from error
    return LayerIndex(document["source"], layers)


def _layer(digest: str, tensors: list[Any]) -> StoredLayer:
    found = laid_out([_tensor(*one) for one in tensors])
    value = bytes.fromhex(digest)
    if len(value) != DIGEST_BYTES or not found.size:
        raise ValueError
    return replace(found, digest=value)


def _tensor(name: str, dtype: str, shape: list[Any]) -> StoredTensor:
    sides = tuple(shape)
    fine = all(type(side) is int and 0 < side < 1 << 32 for side in sides)
    if not isinstance(name, str) or dtype not in _ITEM_BYTES or not fine:
        raise ValueError
    if len(sides) > _MOST_DIMENSIONS:
        raise ValueError
    return StoredTensor(name, dtype, sides)


def _listed(layer: StoredLayer) -> list[list[Any]]:
    return [[tensor.name, tensor.dtype, list(tensor.shape)] for tensor in layer.tensors]


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST_BYTES).digest()


def _up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple
