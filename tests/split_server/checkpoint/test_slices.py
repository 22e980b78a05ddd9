"""Byte sources and their digests against plain reads of the files."""

from __future__ import annotations

import hashlib
import logging
import os
from pathlib import Path

import pytest

from split_server.checkpoint import slices
from split_server.checkpoint.safetensors_index import TensorSlice
from split_server.checkpoint.slices import (
    FileSource,
    Progress,
    TextSource,
    WeightsChanged,
    hash_files,
    hash_source,
)
from split_server.errors import MalformedCheckpoint


def _slice(path: Path, data: bytes, offset: int = 16) -> TensorSlice:
    path.write_bytes(b"\xff" * offset + data + b"\xee" * 32)
    return TensorSlice(path, offset, len(data), "f32", (len(data) // 4, 1))


def test_a_file_source_reads_its_slice_and_not_a_byte_beyond(tmp_path: Path) -> None:
    data = os.urandom(1000)
    source = FileSource.of(_slice(tmp_path / "weights", data))
    with source.opened() as read:
        assert read(0, 10_000) == data
        assert read(990, 100) == data[990:]
        assert read(3, 5) == data[3:8]


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 200])
def test_chunk_digests_are_those_of_the_bytes(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "CHUNK_BYTES", 64)
    data = os.urandom(size)
    for source in (TextSource(data), FileSource.of(_slice(tmp_path / "weights", data))):
        digests = hash_source(source)
        parts = [data[start : start + 64] for start in range(0, size, 64)]
        assert digests.sha256 == hashlib.sha256(data).hexdigest()
        assert digests.chunks == tuple(hashlib.sha256(part).hexdigest() for part in parts)


def test_a_rewritten_file_is_refused(tmp_path: Path) -> None:
    source = FileSource.of(_slice(tmp_path / "weights", b"a" * 100))
    (tmp_path / "weights").write_bytes(b"b" * 200)
    with pytest.raises(WeightsChanged, match="restart"), source.opened():
        pass


def test_a_removed_file_is_refused(tmp_path: Path) -> None:
    source = FileSource.of(_slice(tmp_path / "weights", b"a" * 100))
    (tmp_path / "weights").unlink()
    with pytest.raises(WeightsChanged), source.opened():
        pass


def test_a_file_cut_while_open_is_refused(tmp_path: Path) -> None:
    source = FileSource.of(_slice(tmp_path / "weights", b"a" * 100))
    with source.opened() as read:
        os.truncate(tmp_path / "weights", 20)
        with pytest.raises(WeightsChanged):
            read(0, 100)


def test_the_digest_of_files_depends_on_where_one_ends(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"xy")
    second.write_bytes(b"z")
    joined = hash_files([first, second])
    first.write_bytes(b"x")
    second.write_bytes(b"yz")
    assert hash_files([first, second]) != joined
    length = (1).to_bytes(8, "little")
    assert hash_files([first]) == hashlib.sha256(length + b"x").hexdigest()


def test_a_missing_file_cannot_be_hashed(tmp_path: Path) -> None:
    with pytest.raises(MalformedCheckpoint, match="absent"):
        hash_files([tmp_path / "absent"])


def test_progress_is_told_every_five_seconds(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    progress = Progress("hashing", 4 << 30, clock=lambda: now[0])
    with caplog.at_level(logging.INFO):
        progress.advance(1 << 30)
        assert not caplog.messages
        now[0] = 5.0
        progress.advance(1 << 30)
        progress.advance(1 << 30)
    assert caplog.messages == ["hashing: 2.0 of 4.0 GB"]
