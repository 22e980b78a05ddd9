"""Layer files are made once, made anew where damaged, and go when nobody uses them."""

from __future__ import annotations

import os
from collections import namedtuple
from pathlib import Path

import pytest

from split_server.checkpoint.layers.folder import LayerFolder
from split_server.checkpoint.layers.writing import write_layer_file
from split_server.errors import LayersNotKept
from tests.layer_files import index_of, opened, values_of

_DAY = 86_400.0


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"lock"}


def test_a_file_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    first = opened(tmp_path / "layers")
    made = first.path.stat()
    again = opened(tmp_path / "layers")
    assert (again.path, again.path.stat().st_ino) == (first.path, made.st_ino)
    assert made.st_mode & 0o077 == 0
    assert (tmp_path / "layers").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", ["head", "cut", "longer", "empty", "shapes"])
def test_a_file_that_does_not_hold_together_is_made_anew(tmp_path: Path, damage: str) -> None:
    path = opened(tmp_path).path
    size = path.stat().st_size
    if damage == "head":
        with path.open("r+b") as raw:
            raw.write(b"another file")
    elif damage == "shapes":
        write_layer_file(path, index_of(rows=41), lambda *_: None)
    else:
        os.truncate(path, {"cut": size - 4096, "longer": size + 4096, "empty": 0}[damage])
    file = opened(tmp_path)
    buffer = memoryview(bytearray(file.index.largest))
    file.read(1, buffer)
    assert bytes(buffer) == values_of(index_of(), 1)


def test_what_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    def fails(layer: int, _: memoryview) -> None:
        if layer == 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        LayerFolder(tmp_path).opened(index_of(), fails)
    assert _names(tmp_path) == set()


def test_what_a_killed_process_has_begun_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".tmp-0123").write_bytes(b"begun")
    path = opened(tmp_path).path
    assert _names(tmp_path) == {path.name}


def test_a_file_that_nobody_used_for_a_month_goes(tmp_path: Path) -> None:
    old, used = opened(tmp_path, index_of("old")).path, opened(tmp_path, index_of("used")).path
    now = old.stat().st_mtime
    os.utime(used, (now + 20 * _DAY, now + 20 * _DAY))
    folder = LayerFolder(tmp_path, lambda: now + 31 * _DAY)
    new = folder.opened(index_of("new"), lambda *_: None).path
    assert _names(tmp_path) == {used.name, new.name}


_Space = namedtuple("_Space", "f_blocks f_frsize f_bavail")


def test_the_longest_unused_makes_way_and_what_never_fits_removes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {name: opened(tmp_path, index_of(name)).path for name in ("first", "second")}
    begin = paths["first"].stat().st_mtime
    os.utime(paths["second"], (begin - 60, begin - 60))
    one = paths["first"].stat().st_size
    monkeypatch.setattr(os, "statvfs", lambda _: _Space(0, 1, _free()))

    def _free() -> int:
        return 3 * one - sum(path.stat().st_size for path in tmp_path.glob("*.layers"))

    new = opened(tmp_path, index_of("third")).path
    last = opened(tmp_path, index_of("fourth")).path
    assert _names(tmp_path) == {paths["first"].name, new.name, last.name}
    with pytest.raises(LayersNotKept, match="are free"):
        opened(tmp_path, index_of("large", rows=4000))
    assert _names(tmp_path) == {paths["first"].name, new.name, last.name}


def test_a_folder_that_cannot_be_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(LayersNotKept, match="--stream-folder"):
        opened(tmp_path / "file")
