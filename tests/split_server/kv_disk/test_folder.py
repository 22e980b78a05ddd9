"""The names in the folder of run files, as a reader has them."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

from split_server.kv_disk.folder import Folder
from split_server.kv_disk.run_file import file_name


def _written(path: Path, number: int) -> str:
    name = file_name(number.to_bytes(32))
    (path / name).touch()
    os.utime(path, ns=(number, number))
    return name


def test_a_folder_that_takes_long_to_list_is_not_listed_at_every_change(tmp_path: Path) -> None:
    # Each look at the clock is a second later, so that a list takes one.
    seconds = count()
    folder = Folder(tmp_path, b"key", lambda: float(next(seconds)))
    first = _written(tmp_path, 1)
    assert folder.names() == {first}
    second = _written(tmp_path, 2)
    assert folder.names() == {first}
    for _ in range(20):
        next(seconds)
    assert folder.names() == {first, second}


def test_a_folder_that_is_quick_to_list_is_listed_once_it_was_changed(tmp_path: Path) -> None:
    folder = Folder(tmp_path, b"key", lambda: 5.0)
    for number in range(1, 4):
        assert _written(tmp_path, number) in folder.names()
