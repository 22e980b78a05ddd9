"""The index of a GGUF that somebody made to do harm, or cut, or wrote over."""

from __future__ import annotations

import random
import struct
import tracemalloc
from pathlib import Path

import pytest

from split_server.checkpoint.gguf.folder import write_folder
from split_server.checkpoint.gguf.index import Index, read_index
from split_server.checkpoint.gguf.source import Source
from split_server.errors import MalformedCheckpoint, ServerError
from tests.checkpoints import tiny_checkpoint
from tests.exhaustive import EXHAUSTIVE
from tests.gguf_files import as_gguf

_MUTATIONS = 100_000 if EXHAUSTIVE else 600
_U32, _STRING, _ARRAY = 4, 8, 9


def _text(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


def _head(tensors: int = 0, keys: int = 0, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys)


def _key(name: bytes, kind: int, value: bytes) -> bytes:
    return _text(name) + struct.pack("<I", kind) + value


def _tensor(name: bytes, shape: tuple[int, ...] = (32,), kind: int = 0, at: int = 0) -> bytes:
    sides = struct.pack(f"<{len(shape)}Q", *shape)
    return _text(name) + struct.pack("<I", len(shape)) + sides + struct.pack("<IQ", kind, at)


_HOSTILE = {
    "nothing": (b"", "cut short"),
    "another format": (b"PK\x03\x04" + bytes(60), "not a GGUF"),
    "an old version": (_head(version=1) + bytes(60), "version 1"),
    "big endian": (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "big endian"),
    "tensors without end": (_head(tensors=2**63), "tensors"),
    "keys without end": (_head(keys=2**63), "keys"),
    "a key without end": (_head(keys=1) + struct.pack("<Q", 2**63), "text of"),
    "a key cut short": (_head(keys=1) + struct.pack("<Q", 900) + b"a", "cut short"),
    "a key that is no text": (_head(keys=1) + _key(b"\xff\xfe", _U32, bytes(4)), "not UTF-8"),
    "a key twice": (_head(keys=2) + 2 * _key(b"a", _U32, bytes(4)), "a twice"),
    "an unknown type": (_head(keys=1) + _key(b"a", 13, bytes(8)), "type 13"),
    "a text without end": (_head(keys=1) + _key(b"a", _STRING, b"\xff" * 8), "text of"),
    "a list of lists": (
        _head(keys=1) + _key(b"a", _ARRAY, struct.pack("<IQ", _ARRAY, 1) + bytes(12)),
        "list of lists",
    ),
    "a list without end": (
        _head(keys=1) + _key(b"a", _ARRAY, struct.pack("<IQ", _U32, 2**62)),
        "cut short",
    ),
    "strings without end": (
        _head(keys=1) + _key(b"a", _ARRAY, struct.pack("<IQ", _STRING, 2**62)),
        "strings",
    ),
    "an alignment of nothing": (
        _head(keys=1) + _key(b"general.alignment", _U32, bytes(4)),
        "aligned to 0",
    ),
    "a tensor twice": (_head(tensors=2) + 2 * _tensor(b"a") + bytes(400), "a twice"),
    "a tensor of no dimension": (_head(tensors=1) + _tensor(b"a", ()), "0 dimensions"),
    "a tensor of many dimensions": (_head(tensors=1) + _tensor(b"a", (1,) * 9), "9 dimensions"),
    "a tensor of nothing": (_head(tensors=1) + _tensor(b"a", (0, 32)), "impossible shape"),
    "a tensor beyond all sizes": (_head(tensors=1) + _tensor(b"a", (2**39,) * 4), "impossible"),
    "a type that is not read": (_head(tensors=1) + _tensor(b"a", kind=16), "type 16"),
    "a part of a block": (_head(tensors=1) + _tensor(b"a", (33,), kind=8), "whole Q8_0"),
    "a tensor beyond the end": (_head(tensors=1) + _tensor(b"a") + bytes(60), "not all there"),
    "an offset beyond all sizes": (_head(tensors=1) + _tensor(b"a", at=2**63), "not all there"),
    "an offset between": (_head(tensors=1) + _tensor(b"a", at=4) + bytes(400), "overlaps"),
    "tensors on each other": (
        _head(tensors=2) + _tensor(b"a", (64,)) + _tensor(b"b", at=128) + bytes(600),
        "b overlaps",
    ),
}


def _indexed(data: bytes, path: Path) -> Index:
    path.write_bytes(data)
    with Source(path) as source:
        return read_index(source)


@pytest.mark.parametrize("what", _HOSTILE)
def test_a_hostile_file_is_refused_by_name(what: str, tmp_path: Path) -> None:
    data, words = _HOSTILE[what]
    with pytest.raises(MalformedCheckpoint, match=words):
        _indexed(data, tmp_path / "m.gguf")


def test_strings_of_a_list_are_counted_over_all_lists(tmp_path: Path) -> None:
    one = struct.pack("<IQ", _STRING, 1_100_000) + bytes(8 * 1_100_000)
    data = _head(keys=2) + _key(b"a", _ARRAY, one) + _key(b"b", _ARRAY, one)
    with pytest.raises(MalformedCheckpoint, match="strings"):
        _indexed(data, tmp_path / "m.gguf")


def test_a_file_of_long_lists_is_indexed_without_holding_them(tmp_path: Path) -> None:
    numbers = _key(b"a", _ARRAY, struct.pack("<IQ", _U32, 4_000_000) + bytes(16_000_000))
    tracemalloc.start()
    index = _indexed(_head(keys=1) + numbers, tmp_path / "m.gguf")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20
    with pytest.raises(MalformedCheckpoint, match="at most 1,048,576"):
        index.metadata.numbers("a")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("fuzzed")
    model = tiny_checkpoint("llama", folder / "hf", num_hidden_layers=1)
    return as_gguf(model, folder / "m.gguf").read_bytes()


def _mutated(data: bytes, draw: random.Random) -> bytes:
    """Bytes turned over, numbers replaced by edges, pieces moved or cut, in the first 12 kB most:
    what follows is numbers of tensors."""
    made = bytearray(data)
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(min(len(made), 12_000))
        match draw.randrange(5):
            case 0:
                made[at] ^= 1 << draw.randrange(8)
            case 1:
                edge = draw.choice((0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1, len(data)))
                made[at : at + 8] = struct.pack("<Q", edge)
            case 2:
                made[at : at + 4] = struct.pack("<I", draw.randrange(40))
            case 3:
                del made[at : at + draw.choice((1, 8, 64, 5000))]
            case _:
                made[at:at] = made[draw.randrange(len(made)) :][: draw.choice((1, 8, 64))]
        if not made:
            break
    return bytes(made)


def test_a_mutated_file_is_read_or_refused_by_its_error_alone(whole: bytes, tmp_path: Path) -> None:
    draw = random.Random(5)  # noqa: S311 - a test
    refused = 0
    for number in range(_MUTATIONS):
        file = tmp_path / "m.gguf"
        file.write_bytes(_mutated(whole, draw))
        target = tmp_path / str(number)
        try:
            with Source(file) as source:
                write_folder(source, target, "ab" * 32, "bfloat16")
        except ServerError:
            refused += 1
            assert not target.exists()
    assert refused > _MUTATIONS // 2
