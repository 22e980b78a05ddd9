"""Locks on files that nobody can lead elsewhere, empty or take away unnoticed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from split_files import LockReplaced, NotRegularFile, locks, take_lock


def test_a_lock_is_held_until_its_file_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    held = take_lock(path)
    with pytest.raises(BlockingIOError):
        take_lock(path, wait=False)
    held.close()
    take_lock(path, wait=False).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_shared_lock_is_shared_and_keeps_out_who_wants_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with (
        take_lock(path, exclusive=False),
        take_lock(path, exclusive=False, wait=False),
        pytest.raises(BlockingIOError),
    ):
        take_lock(path, wait=False)


def test_what_is_in_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    path.write_text("somebody's")
    take_lock(path).close()
    assert path.read_text() == "somebody's"


def test_a_symbolic_link_is_refused_and_its_target_stays(tmp_path: Path) -> None:
    target, path = tmp_path / "thesis", tmp_path / "x.lock"
    target.write_text("of three years")
    path.symlink_to(target)
    with pytest.raises(NotRegularFile, match="symbolic link"):
        take_lock(path)
    path.unlink()
    path.symlink_to(tmp_path / "none")
    with pytest.raises(NotRegularFile):
        take_lock(path)
    assert (target.read_text(), (tmp_path / "none").exists()) == ("of three years", False)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.lock")
    with pytest.raises(NotRegularFile):
        take_lock(tmp_path / "x.lock")


def test_a_file_that_was_replaced_while_its_lock_was_waited_for_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.lock"
    flock, replaced = locks.fcntl.flock, list[int]()

    def replace_once(file: object, kind: int) -> None:
        if not replaced:
            replaced.append(path.stat().st_ino)
            path.rename(tmp_path / "aside")
            path.write_text("")
        flock(file, kind)  # type: ignore[arg-type]

    monkeypatch.setattr(locks.fcntl, "flock", replace_once)
    with take_lock(path) as held:
        assert os.fstat(held.fileno()).st_ino == path.stat().st_ino != replaced[0]


def test_a_file_that_is_always_removed_is_not_tried_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.lock"
    monkeypatch.setattr(locks.fcntl, "flock", lambda *_: path.unlink())
    with pytest.raises(LockReplaced, match="keeps removing"):
        take_lock(path)
