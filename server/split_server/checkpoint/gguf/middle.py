"""The middle of a GGUF as a GGUF of its own, for an engine that reads the format itself.

llama.cpp computes its head in every pass, which devices do elsewhere, so the tables keep a few rows
here. Its parser, in C++, sees this file alone: keys that were checked, tensors that a rule names,
and of the stranger's bytes nothing but blocks whose numbers are finite.
The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, version 3.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO

from split_server.checkpoint.gguf.blocks import BLOCKS, floats
from split_server.checkpoint.gguf.index import Index, Place
from split_server.checkpoint.gguf.source import Source
from split_server.checkpoint.gguf.values import Metadata
from split_server.errors import MalformedCheckpoint

MIDDLE_FILE = "middle.gguf"
TABLES = ("token_embd.weight", "output.weight")
# Of each table. The head over so few rows takes no time that shows beside a layer.
TABLE_ROWS = 32
_VERSION, _ALIGNMENT = 3, 32
_U32, _F32, _STRING = 4, 6, 8
_MOST_U32 = 1 << 31
# About a megabyte of float32 values, whole blocks of every type.
_VALUES_AT_ONCE = 1 << 18
_INTEGERS = (
    "block_count",
    "context_length",
    "embedding_length",
    "feed_forward_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.sliding_window",
    "rope.dimension_count",
    "rope.scaling.original_context_length",
)
_NUMBERS = (
    "attention.layer_norm_rms_epsilon",
    "attention.layer_norm_epsilon",
    "rope.freq_base_swa",
    "rope.scaling.factor",
    "attn_logit_softcapping",
    "final_logit_softcapping",
)


def middle_size(index: Index) -> int:
    """Bytes that the file takes, and some more."""
    places = _cut(index.tensors)
    return sum(place.size + _ALIGNMENT + 512 for place in places.values()) + (1 << 16)


def write_middle(target: BinaryIO, source: Source, index: Index, config: Mapping[str, Any]) -> None:
    """Write the file. ``config``: of the model, made of the same metadata; ``index`` was accepted
    whole. Raises MalformedCheckpoint, OSError.
    """
    places = _cut(index.tensors)
    rows = places[TABLES[0]].shape[0]
    pairs = list(_pairs(index.metadata, config, rows))
    head = struct.pack("<4sIQQ", b"GGUF", _VERSION, len(places), len(pairs)) + b"".join(pairs)
    offset = 0
    for name, place in places.items():
        head += _described(name, place, offset)
        offset += _padded(place.size)
    target.write(head.ljust(_padded(len(head)), b"\0"))
    for name, place in places.items():
        for part in _parts(source, name, place):
            target.write(part)
        target.write(bytes(_padded(place.size) - place.size))


def _cut(tensors: Mapping[str, Place]) -> dict[str, Place]:
    """``tensors`` with the first rows of each table."""
    found = dict(tensors)
    for name in TABLES:
        if name in found:
            place = found[name]
            rows = min(TABLE_ROWS, place.shape[0])
            size = place.size // place.shape[0] * rows
            found[name] = replace(place, shape=(rows, *place.shape[1:]), size=size)
    return found


def _pairs(metadata: Metadata, config: Mapping[str, Any], rows: int) -> Iterator[bytes]:
    """Keys and values, as they are written."""
    prefix = metadata.text("general.architecture")
    yield _text_pair("general.architecture", prefix)
    # No vocabulary: nobody sends token ids here.
    yield _text_pair("tokenizer.ggml.model", "no_vocab")
    yield _integer_pair("general.quantization_version", 2)
    yield _integer_pair(f"{prefix}.vocab_size", rows)
    yield _number_pair(f"{prefix}.rope.freq_base", float(config["rope_theta"]))
    if "rope_scaling" in config:
        yield _text_pair(f"{prefix}.rope.scaling.type", config["rope_scaling"]["rope_type"])
    for key in _INTEGERS:
        if f"{prefix}.{key}" in metadata:
            yield _integer_pair(f"{prefix}.{key}", metadata.integer(f"{prefix}.{key}"))
    for key in _NUMBERS:
        if f"{prefix}.{key}" in metadata:
            yield _number_pair(f"{prefix}.{key}", metadata.number(f"{prefix}.{key}"))


def _integer_pair(key: str, value: int) -> bytes:
    if value >= _MOST_U32:
        raise MalformedCheckpoint(f"{key} is {value:,}, which no model has")
    return _text(key) + struct.pack("<II", _U32, value)


def _number_pair(key: str, value: float) -> bytes:
    try:
        return _text(key) + struct.pack("<If", _F32, value)
    except OverflowError as error:
        raise MalformedCheckpoint(f"{key} is beyond float32") from error


def _text_pair(key: str, value: str) -> bytes:
    return _text(key) + struct.pack("<I", _STRING) + _text(value)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _described(name: str, place: Place, offset: int) -> bytes:
    """A tensor's entry; its sides come with the shortest step in memory first."""
    sides = struct.pack(f"<{len(place.shape)}Q", *place.shape[::-1])
    count = struct.pack("<I", len(place.shape))
    return _text(name) + count + sides + struct.pack("<IQ", place.kind, offset)


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _parts(source: Source, name: str, place: Place) -> Iterator[bytes]:
    """The blocks of a tensor, checked."""
    block = BLOCKS[place.kind]
    at_once = _VALUES_AT_ONCE // block.values * block.bytes
    for first in range(0, place.size, at_once):
        data = source.read(place.offset + first, min(at_once, place.size - first))
        try:
            floats(data, place.kind)
        except MalformedCheckpoint as error:
            raise MalformedCheckpoint(f"{name}: {error}") from error
        yield data
