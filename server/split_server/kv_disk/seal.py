"""A run's digests, keys and values under AES-256-GCM (NIST SP 800-38D), bound to its header."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

import torch
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import GCM

from split_server.kv.buffers import Shape
from split_server.kv.quantise import SCALE_DTYPE, scale_shape
from split_server.kv.run import Run, new_coded_slab, new_slab
from split_server.kv_disk.errors import BadFile
from split_server.kv_disk.run_file import DTYPES, SEAL_BYTES, Header, header_size

# Encrypted at a time: the interpreter is free again after a fraction of a millisecond.
_CHUNK = 1 << 20
_DTYPES = dict(zip(DTYPES, (torch.float32, torch.bfloat16, torch.float16), strict=True))
# Count of layers; then their shapes.
_COUNT = struct.Struct("<I")
_SHAPE = struct.Struct("<4I")
_MOST_LAYERS = 4096
_DIGEST_BYTES = 16


class Sealed(NamedTuple):
    """What a file has of its run: ``digests``, ``layers``, and ``scales`` of whole numbers;
    ``dtype``: of the rows in a cache.
    """

    digests: bytes
    layers: list[torch.Tensor]
    scales: list[torch.Tensor]
    dtype: torch.dtype


def dtype_name(run: Run) -> str:
    """The dtype of its rows, as a header has it."""
    return str(run.dtype).removeprefix("torch.")


def sealed_size(run: Run) -> int:
    """Bytes of the seal of ``run``."""
    tensors = sum(layer.nbytes for layer in (*run.layers, *run.scales))
    return len(_described(run.layers)) + len(run.digests) + tensors + SEAL_BYTES


def sealed_file(run: Run, header: Header, key: bytes) -> bytearray:
    """The whole file of ``run``. Raises MemoryError."""
    plain = header.packed()
    file = bytearray(len(plain) + header.sealed)
    view = memoryview(file)
    view[: len(plain)] = plain
    encryptor = Cipher(AES(key), GCM(header.nonce)).encryptor()
    encryptor.authenticate_additional_data(plain)
    at = len(plain)
    run.wait()
    described, digests = memoryview(_described(run.layers)), memoryview(run.digests)
    for part in (described, digests, *map(_bytes_of, (*run.layers, *run.scales))):
        for chunk in _chunks(part):
            at += encryptor.update_into(chunk, view[at:])
    encryptor.finalize()
    view[at:] = encryptor.tag
    return file


def opened(file: BinaryIO, header: Header, key: bytes) -> Sealed:
    """What the ``file`` that begins with ``header`` holds.

    Nothing of it is used unless all of it is what was sealed. Raises BadFile, OSError, MemoryError.
    """
    plain = header.packed()
    file.seek(header_size(len(header.names)) + header.sealed - SEAL_BYTES)
    tag = file.read(SEAL_BYTES)
    file.seek(len(plain))
    if len(tag) != SEAL_BYTES:
        raise BadFile("short")
    decryptor = Cipher(AES(key), GCM(header.nonce, tag)).decryptor()
    decryptor.authenticate_additional_data(plain)
    reader = _Reader(file, decryptor, header.sealed - SEAL_BYTES)
    shapes, dtype = _shapes(reader), _DTYPES[header.dtype]
    digests = reader.take(_DIGEST_BYTES * (header.end - header.start))
    # Not authentic yet, so no more is believed than that the file has as many bytes.
    if _tensor_bytes(shapes, header) != reader.left:
        raise BadFile("damaged")
    layers, scales = (
        new_coded_slab(shapes, header.start) if header.coded else (new_slab(shapes, dtype), [])
    )
    for part in (*layers, *scales):
        reader.fill(_bytes_of(part))
    try:
        decryptor.finalize()
    except InvalidTag:
        raise BadFile("damaged") from None
    return Sealed(digests, layers, scales, dtype)


class _Reader:
    """Decrypts as much as is asked for; ``left``: bytes that are sealed and not read."""

    def __init__(self, file: BinaryIO, decryptor: CipherContext, left: int) -> None:
        self._file, self._decryptor, self.left = file, decryptor, left
        self._buffer = bytearray(min(_CHUNK, left))

    def take(self, size: int) -> bytes:
        """The next ``size`` bytes. Raises BadFile, OSError."""
        if size > self.left:
            raise BadFile("damaged")
        taken = bytearray(size)
        self.fill(memoryview(taken))
        return bytes(taken)

    def fill(self, target: memoryview) -> None:
        """The next bytes. Raises BadFile, OSError."""
        for part in _chunks(target):
            chunk = memoryview(self._buffer)[: len(part)]
            if self._file.readinto(chunk) != len(part):  # type: ignore[attr-defined]
                raise BadFile("short")
            self._decryptor.update_into(chunk, part)
            self.left -= len(part)


def _shapes(reader: _Reader) -> list[Shape]:
    (layers,) = _COUNT.unpack(reader.take(_COUNT.size))
    if not 0 < layers <= _MOST_LAYERS:
        raise BadFile("damaged")
    shapes = _SHAPE.iter_unpack(reader.take(_SHAPE.size * layers))
    return [tuple(shape) for shape in shapes]


def _tensor_bytes(shapes: Sequence[Shape], header: Header) -> int:
    if any(count != header.end - header.start for _, _, count, _ in shapes):
        raise BadFile("damaged")
    values = sum(map(math.prod, shapes))
    if not header.coded:
        return _DTYPES[header.dtype].itemsize * values
    of_scales = (scale_shape(h, width, header.start, header.end) for _, h, _, width in shapes)
    return values + SCALE_DTYPE.itemsize * sum(map(math.prod, of_scales))


def _described(layers: Sequence[torch.Tensor]) -> bytes:
    shapes = b"".join(_SHAPE.pack(*layer.shape) for layer in layers)
    return _COUNT.pack(len(layers)) + shapes


def _bytes_of(layer: torch.Tensor) -> memoryview:
    """The bytes of ``layer``, which is contiguous."""
    view: memoryview = layer.view(-1).view(torch.uint8).numpy().data
    return view


def _chunks(view: memoryview) -> Iterator[memoryview]:
    for at in range(0, len(view), _CHUNK):
        yield view[at : at + _CHUNK]
