"""The file that names a server for Prometheus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from split_server.serving.lifecycle.targets import TargetsUnusable, listed


def test_it_is_there_while_the_server_is_and_readable_for_others(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "here"
    with listed(folder, "127.0.0.1:9095"):
        (file,) = folder.iterdir()
        assert json.loads(file.read_text()) == [{"targets": ["127.0.0.1:9095"]}]
        assert file.name == "split-server-127.0.0.1-9095.json"
        assert file.stat().st_mode & 0o777 == 0o644
    assert list(folder.iterdir()) == []


def test_servers_have_files_of_their_own(tmp_path: Path) -> None:
    with listed(tmp_path, "[fd00::1]:9095"), listed(tmp_path, "127.0.0.1:9095"):
        assert len(list(tmp_path.glob("*.json"))) == 2
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_server_left_is_replaced(tmp_path: Path) -> None:
    left = tmp_path / "split-server-127.0.0.1-9095.json"
    left.write_text("half of")
    with listed(tmp_path, "127.0.0.1:9095"):
        assert json.loads(left.read_text()) == [{"targets": ["127.0.0.1:9095"]}]
    assert not left.exists()


def test_the_file_of_whoever_has_the_address_next_stays(tmp_path: Path) -> None:
    first = listed(tmp_path, "127.0.0.1:9095")
    first.__enter__()
    with listed(tmp_path, "127.0.0.1:9095"):
        first.__exit__(None, None, None)
        assert len(list(tmp_path.iterdir())) == 1
    assert list(tmp_path.iterdir()) == []


def test_it_follows_no_link_and_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("untouched")
    folder = tmp_path / "targets"
    folder.mkdir()
    (folder / "split-server-127.0.0.1-9095.json").symlink_to(other)
    with listed(folder, "127.0.0.1:9095"):
        assert other.read_text() == "untouched"
    with (
        pytest.raises(TargetsUnusable, match="--ops-targets"),
        listed(other / "below", "127.0.0.1:1"),
    ):
        pytest.fail("it cannot be written")


def test_without_a_folder_nothing_is_written() -> None:
    with listed(None, "127.0.0.1:9095"):
        pass
