"""Whole layers that are read as they were written, or not at all."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import pytest

from split_server.checkpoint.layers import opening
from split_server.checkpoint.layers.errors import LayerFileDamaged
from split_server.checkpoint.layers.file import LayerFile, open_layer_file
from tests.layer_files import LAYERS, index_of, opened, values_of


def _buffer(file: LayerFile) -> memoryview:
    return memoryview(mmap.mmap(-1, file.index.largest))


def test_every_layer_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = opened(tmp_path)
    buffer = _buffer(file)
    for layer in range(LAYERS):
        file.read(layer, buffer)
        assert bytes(buffer) == values_of(file.index, layer)
        assert file.sound(layer, buffer)


def test_reads_go_through_the_page_cache_where_a_file_system_has_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(tmp_path).close()
    monkeypatch.setattr(opening, "DIRECT", 0)
    file = opened(tmp_path)
    buffer = _buffer(file)
    file.read(3, buffer)
    assert not file.direct
    assert file.sound(3, buffer)


def test_a_file_system_that_refuses_direct_reads_late_gets_plain_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = opened(tmp_path)
    if not file.direct:
        pytest.skip("no direct reads here")
    # A buffer that does not begin at a block is what the kernel itself answers so.
    shifted = memoryview(mmap.mmap(-1, 2 * file.index.largest))[1:]
    file.read(2, shifted)
    assert file.sound(2, shifted)
    assert not file.direct


def test_a_changed_byte_of_a_layer_is_noticed(tmp_path: Path) -> None:
    file = opened(tmp_path)
    with file.path.open("r+b") as raw:
        raw.seek(file.index.offsets()[2] + 100)
        raw.write(b"\x77")
    buffer = _buffer(file)
    file.read(2, buffer)
    assert not file.sound(2, buffer)


def test_a_file_that_is_cut_short_meanwhile_is_an_error_of_the_layers_behind(
    tmp_path: Path,
) -> None:
    file = opened(tmp_path)
    before = file.stamp()
    os.truncate(file.path, file.index.offsets()[3] + 4096)
    buffer = _buffer(file)
    file.read(2, buffer)
    assert file.stamp() != before
    for layer in (3, 4):
        with pytest.raises(LayerFileDamaged, match="cut short"):
            file.read(layer, buffer)


def test_a_file_of_another_model_or_length_is_not_opened(tmp_path: Path) -> None:
    path = opened(tmp_path).path
    with pytest.raises(LayerFileDamaged, match="another model"):
        open_layer_file(path, "another")
    with path.open("ab") as raw:
        raw.write(bytes(4096))
    with pytest.raises(LayerFileDamaged, match="longer"):
        open_layer_file(path, index_of().source)


def test_a_pipe_in_its_place_holds_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LayerFileDamaged):
        open_layer_file(tmp_path / "pipe", "a model")
