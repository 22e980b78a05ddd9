"""The folder keeps to its budget and age, also with other servers, a full disk and none."""

from __future__ import annotations

import errno
import logging
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from split_server.kv_disk.folder import Folder
from tests.split_server.kv_disk.tiers import Place

# Of a run of 256 positions: keys and values, digests, header, description and seal.
FILE = 3 * 2 * 2 * 256 * 8 * 4 + 256 * 16


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def held(place: Place) -> int:
    return sum(path.stat().st_size for path in place.files())


def test_the_oldest_files_make_room_and_the_budget_is_kept(tmp_path: Path) -> None:
    budget = 8 * FILE
    place = Place(tmp_path, total=budget)
    for number in range(12):
        place.wall.now += 1
        place.put(f"chat {number}", 256)
        assert held(place) <= budget
    place.start(total=budget)
    assert place.found("chat 0", 256) == 0
    assert place.found("chat 11", 256) == 256
    assert place.tier.index.total == held(place)


def test_what_others_stand_on_stays_longer_than_they(tmp_path: Path) -> None:
    place = Place(tmp_path, total=6 * FILE)
    place.put("long", 4 * 256)
    place.wall.now += 1
    for number in range(4):
        place.put(f"chat {number}", 256)
    place.start(total=6 * FILE)
    found = place.found("long", 4 * 256)
    # Its end has gone first, so that what is left can be used.
    assert 0 < found < 4 * 256


def test_a_use_makes_a_file_young(tmp_path: Path) -> None:
    place = Place(tmp_path, ttl=100)
    place.put("used", 256)
    place.put("unused", 256)
    place.start(ttl=100)
    place.wall.now += 90
    for path in place.files():
        os.utime(path, (place.wall.now - 90, place.wall.now - 90))
    place.start(ttl=100)
    assert place.found("used", 256) == 256
    place.wall.now += 20
    place.clock.now += 100
    place.tier._beat()
    assert place.tier.counts.removed == {"age": 1}
    place.start(ttl=100)
    assert (place.found("used", 256), place.found("unused", 256)) == (256, 0)


def test_a_smaller_budget_holds_after_a_restart(place: Place) -> None:
    for number in range(6):
        place.put(f"chat {number}", 256)
    place.start(total=3 * FILE)
    place.clock.now += 100
    place.tier._beat()
    assert held(place) <= 3 * FILE


def test_more_files_than_are_counted_are_removed(tmp_path: Path) -> None:
    place = Place(tmp_path, files=4)
    for number in range(10):
        place.wall.now += 1
        place.put(f"chat {number}", 32)
        assert len(place.files()) <= 4


def test_servers_that_share_a_folder_find_what_others_wrote_and_keep_one_budget(
    tmp_path: Path,
) -> None:
    budget = 8 * FILE
    one = Place(tmp_path, total=budget)
    one.names.of("alice")
    other = Place(tmp_path, total=budget)
    other.wall.now += 5
    one.put("shared", 600)
    assert other.found("shared", 600) == 600
    for number in range(12):
        (one, other)[number % 2].put(f"chat {number}", 256)
        assert held(one) <= budget


def test_leftovers_of_killed_writes_are_removed_and_writes_under_way_are_not(place: Place) -> None:
    left = place.folder / ".tmp0011223344556677"
    left.write_bytes(b"half")
    with place.tier._folder.locked():
        under_way, file = place.tier._folder.begin(100)
    with file:
        place.start()
        assert not left.exists()
        assert under_way.exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_disk_that_takes_nothing_pauses_writing_with_one_line_and_growing_retries(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    number: int,
) -> None:
    tries: list[float] = []

    def refuse(*_: Any) -> Any:
        tries.append(place.clock.now)
        raise OSError(number, os.strerror(number))

    caplog.set_level(logging.INFO)
    # A salt is stored with the first use of its principal.
    place.names.of("alice")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        place.put("chat", 256)
        for _ in range(40):
            place.clock.now += 1
            place.tier._beat()
    waits = [later - earlier for earlier, later in pairwise(tries)]
    assert waits == sorted(waits)
    assert 3 <= len(waits) < 8
    assert len([r for r in caplog.records if "pauses" in r.message]) == 1
    assert not [*place.folder.glob(".tmp*")]
    place.clock.now += 300
    place.tier._beat()
    assert place.start().found("chat", 256) == 256
    assert any("goes on" in record.message for record in caplog.records)


def test_a_folder_that_is_gone_is_not_made_on_another_disk(place: Place) -> None:
    place.put("one", 256)
    away = place.root / "away"
    place.folder.rename(away)
    place.put("two", 256)
    assert place.found("two", 256) == 256
    assert not place.folder.exists()
    away.rename(place.folder)
    place.clock.now += 300
    place.tier._beat()
    place.start()
    assert (place.found("one", 256), place.found("two", 256)) == (256, 256)


def test_a_file_system_without_space_bounds_the_budget(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Folder, "free", lambda _: 2 * FILE + 8192)
    place.put("one", 256)
    monkeypatch.setattr(Folder, "free", lambda _: 0)
    place.wall.now += 1
    place.put("two", 256)
    assert len(place.files()) == 1
