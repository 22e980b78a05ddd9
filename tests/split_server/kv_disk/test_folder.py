"""The names in the folder of run files, as a reader has them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from split_server.kv_disk.folder import Folder
from split_server.kv_disk.run_file import file_name
from tests.patience import PATIENCE


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


def test_a_file_that_gets_its_name_while_a_neighbour_lists_the_folder_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = Folder(tmp_path, b"key"), Folder(tmp_path, b"key")
    with other.locked():
        begun = other.begin(100)
    end = threading.Thread(
        target=other.finish, args=(*begun, memoryview(bytes(100)), file_name(b"1" * 32))
    )
    scandir = os.scandir

    @contextmanager
    def slowly(path: Path) -> Iterator[Any]:
        with scandir(path) as entries:
            found = [*entries]
        end.start()
        # Without waiting for the list, it is over long before.
        end.join(0.2)
        yield iter(found)

    with mine.locked():
        monkeypatch.setattr(os, "scandir", slowly)
        files, writing = mine.listed()
    assert sum(one.size for one in files) + writing == 100
    end.join(PATIENCE)
    assert (tmp_path / file_name(b"1" * 32)).stat().st_size == 100


def test_who_begins_a_file_is_noticed_though_it_is_killed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = Folder(tmp_path, b"key"), Folder(tmp_path, b"key")
    with mine.locked():
        pass

    def killed(*_: object) -> None:
        raise SystemExit

    monkeypatch.setattr(os, "truncate", killed)
    with pytest.raises(SystemExit), other.locked():
        other.begin(100)
    with mine.locked() as alone:
        assert not alone


def test_what_was_to_be_learned_under_the_lock_and_was_not_is_learned_next_time(
    tmp_path: Path,
) -> None:
    folder = Folder(tmp_path, b"key")
    with folder.locked():
        pass
    with folder.locked() as alone:
        assert alone
    with pytest.raises(OSError, match="slow"), folder.locked():
        raise OSError("slow")
    with folder.locked() as alone:
        assert not alone
