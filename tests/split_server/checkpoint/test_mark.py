"""Whether a checkpoint on disk is as it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from split_server.checkpoint.mark import mark_of


def _write(place: Path) -> None:
    (place / "config.json").write_text("{}")
    (place / "model.safetensors").write_bytes(b"weights")


def _cut(place: Path) -> None:
    (place / "model.safetensors").write_bytes(b"weight")


def _rewritten(place: Path) -> None:
    found = (place / "config.json").stat()
    (place / "config.json").write_text("[]")
    os.utime(place / "config.json", ns=(found.st_atime_ns, found.st_mtime_ns + 1))


def _replaced(place: Path) -> None:
    found = (place / "config.json").stat()
    (place / "other").write_text("[]")
    (place / "other").replace(place / "config.json")
    os.utime(place / "config.json", ns=(found.st_atime_ns, found.st_mtime_ns))


def _more(place: Path) -> None:
    (place / "tokenizer.json").touch()


def _less(place: Path) -> None:
    (place / "config.json").unlink()


@pytest.mark.parametrize("change", [_cut, _rewritten, _replaced, _more, _less])
def test_a_folder_has_another_mark_once_a_file_has_changed(
    change: Callable[[Path], None], tmp_path: Path
) -> None:
    _write(tmp_path)
    before = mark_of(str(tmp_path))
    assert before == mark_of(str(tmp_path))
    change(tmp_path)
    assert mark_of(str(tmp_path)) not in (before, None)


def test_links_are_followed_where_they_lead_somewhere(tmp_path: Path) -> None:
    place = tmp_path / "folder"
    place.mkdir()
    (place / "model.safetensors").symlink_to(tmp_path / "weights")
    marks = [mark_of(str(place))]
    (tmp_path / "weights").write_bytes(b"weights")
    marks.append(mark_of(str(place)))
    (tmp_path / "weights").write_bytes(b"other weights")
    marks.append(mark_of(str(place)))
    assert len({*marks}) == 3
    assert None not in marks


def test_a_file_has_a_mark_too_and_nothing_has_none(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    assert mark_of(str(tmp_path / "model.gguf"))
    assert mark_of(str(tmp_path / "missing")) is None
    assert mark_of("some/model\0") is None
    assert mark_of(None) is None
