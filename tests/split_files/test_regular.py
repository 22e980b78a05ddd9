"""Reading what lies at a path only where it is a regular file, and only so much of it."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from split_files import FileTooLarge, NotRegularFile, open_regular, read_regular
from tests.pipes import pipe


def test_a_file_is_read_whole_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert read_regular(path, 5) == b"12345"
    with pytest.raises(FileTooLarge, match="larger than 4 bytes") as caught:
        read_regular(path, 4)
    assert (caught.value.code, caught.value.errno) == ("file_too_large", errno.EFBIG)
    with open_regular(path) as file:
        assert file.read(2) == b"12"


def test_a_link_to_a_regular_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1")
    (tmp_path / "link").symlink_to(tmp_path / "x")
    assert read_regular(tmp_path / "link", 1) == b"1"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(NotRegularFile, match="not a regular file") as caught:
        read_regular(path, 10)
    assert caught.value.filename == str(path)
    with pipe(path, b"1"), pytest.raises(NotRegularFile):
        read_regular(path, 10)


def test_devices_folders_and_sockets_are_refused(tmp_path: Path) -> None:
    (tmp_path / "zero").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for name in ("zero", "socket", "."):
            with pytest.raises(NotRegularFile):
                read_regular(tmp_path / name, 10)


def test_a_pipe_that_takes_the_place_of_a_file_is_found_after_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    os.mkfifo(path)
    regular = Path(__file__).stat()
    monkeypatch.setattr(Path, "stat", lambda _: regular)
    with pytest.raises(NotRegularFile):
        read_regular(path, 10)


def test_what_the_system_says_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none", 10)
