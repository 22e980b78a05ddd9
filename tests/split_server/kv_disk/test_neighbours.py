"""Processes that share a folder and are killed at any time: nothing wrong is read, ever."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from split_server.kv_disk.folder import Folder
from tests.exhaustive import EXHAUSTIVE
from tests.patience import PATIENCE, until
from tests.split_server.kv_disk.neighbour import TEXTS
from tests.split_server.kv_disk.test_room import FILE
from tests.split_server.kv_disk.tiers import Place

_MODULE = "tests.split_server.kv_disk.neighbour"
_KILLS = 200 if EXHAUSTIVE else 3
# Fewer than the texts have, so that neighbours remove each other's.
_BUDGET = 12 * FILE


class Neighbour:
    """A process over ``root``; ``found``: how often it has read something."""

    def __init__(self, root: Path, seed: int) -> None:
        self.found = self.told = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", _MODULE, str(root), str(seed), str(_BUDGET)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def has_told(self, lines: int) -> bool:
        """Whether it has done so much."""
        return self.told >= lines

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.told += 1
            self.found += not line.endswith(" 0\n")

    def kill(self) -> None:
        """SIGKILL; it has to have lived until then."""
        self._process.kill()
        self._reader.join(PATIENCE)
        assert self._process.stderr is not None
        with self._process:
            complaint = self._process.stderr.read()
        assert self._process.returncode == -9, complaint


class Watch:
    """Weighs the folder for as long as it is watched."""

    def __init__(self, folder: Path) -> None:
        self.most = 0
        self._folder, self._over = folder, threading.Event()
        self._thread = threading.Thread(target=self._weigh)
        self._thread.start()

    def _weigh(self) -> None:
        while not self._over.wait(0.001):
            before = sizes(self._folder)
            # Of files that come and go between two looks, a sum was never there at once.
            if before == sizes(self._folder):
                self.most = max(self.most, sum(before.values()))

    def end(self) -> None:
        self._over.set()
        self._thread.join(PATIENCE)


def sizes(folder: Path) -> dict[tuple[str, int], int]:
    """Bytes of run files and of those that are being written, by name and inode; one that is
    renamed meanwhile may be missed, and is never counted twice.
    """
    found = {}
    for path in [*folder.glob("*.kv"), *folder.glob(".tmp*")]:
        with suppress(FileNotFoundError):
            told = path.stat()
            found[path.name, told.st_ino] = told.st_size
    return found


def weight(folder: Path) -> int:
    """Bytes of all of them."""
    return sum(sizes(folder).values())


def test_neighbours_that_are_killed_read_nothing_wrong_and_keep_one_budget(tmp_path: Path) -> None:
    chance = random.Random(7)  # noqa: S311 - times, not a secret
    Place(tmp_path, total=_BUDGET).names.of("alice")
    watch = Watch(tmp_path / "kv")
    alive = [Neighbour(tmp_path, seed) for seed in range(2)]
    read = 0
    for number in range(_KILLS):
        # The other one goes on meanwhile.
        which, lives = chance.randrange(2), chance.randrange(5, 25)
        until(partial(alive[which].has_told, lives))
        alive[which].kill()
        read += alive[which].found
        alive[which] = Neighbour(tmp_path, 100 + number)
    until(lambda: all(one.told > 5 for one in alive))
    for one in alive:
        one.kill()
        read += one.found
    watch.end()
    assert read > 0
    assert 0 < watch.most <= _BUDGET
    after = Place(tmp_path, total=_BUDGET)
    assert not [*after.folder.glob(".tmp*")]
    assert after.tier.index.total == weight(after.folder)
    assert any(after.found(f"text {number}", 900) for number in range(TEXTS))
    assert not after.tier.counts.failed


def test_a_long_text_that_a_neighbour_has_just_written_is_found_whole(tmp_path: Path) -> None:
    one = Place(tmp_path)
    one.names.of("alice")
    other = Place(tmp_path)
    # More files than names are tried in vain.
    one.put("long", 12 * 256 + 40)
    assert other.found("long", 12 * 256 + 40) == 12 * 256 + 40


@pytest.mark.parametrize("known", [False, True])
def test_what_a_neighbour_wrote_is_found_however_much_follows_it(
    tmp_path: Path, known: bool
) -> None:
    one, other = Place(tmp_path), Place(tmp_path)
    one.put("chat", 1024)
    if known:
        assert other.found("chat", 1024) == 1024
    one.start().put("chat", 1136)
    assert other.found("chat", 1136 + 400) == 1136


def test_a_miss_opens_at_most_eight_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(tmp_path)
    opened: list[str] = []
    open_ = type(place.tier._folder).open

    def counted(folder: object, name: str) -> object:
        opened.append(name)
        return open_(folder, name)  # type: ignore[arg-type]

    monkeypatch.setattr(type(place.tier._folder), "open", counted)
    assert place.found("nowhere", 20 * 256) == 0
    assert 0 < len(opened) <= 8


def test_a_file_that_a_neighbour_removes_during_a_start_is_no_foreign_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    place = Place(tmp_path)
    place.put("chat", 600)
    kind = type(place.tier._folder)
    listed = kind.listed

    def then_removed(folder: Folder) -> object:
        found = listed(folder)
        place.files()[0].unlink(missing_ok=True)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(kind, "listed", then_removed)
        place.start()
    assert len(place.files()) == 2
    assert place.tier.index.total == weight(place.folder)
    assert "another key" not in caplog.text
    assert not place.tier.counts.failed


def test_leftovers_of_a_neighbour_that_was_killed_go_with_the_next_sweep(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (place.folder / ".tmp0011223344556677").write_bytes(b"half")
    place.clock.now += 100
    place.tier._beat()
    assert not [*place.folder.glob(".tmp*")]


def test_files_whose_owner_cannot_be_told_at_present_are_left_and_found_later(
    tmp_path: Path,
) -> None:
    one = Place(tmp_path)
    one.names.of("alice")
    other = Place(tmp_path)
    one.put("his", 300, "bob")
    salts = next(other.state.glob("*.salts"))
    away = salts.with_suffix(".away")
    salts.rename(away)
    other.clock.now += 100
    other.tier._beat()
    assert len(other.files()) == 2
    # Nobody's salt is drawn where the disk was.
    assert not other.tier.salts.stored("bob")
    assert not salts.exists()
    away.rename(salts)
    other.clock.now += 100
    other.tier._beat()
    assert other.found("his", 300, "bob") == 300


def test_a_name_that_came_back_elsewhere_keeps_the_salt_that_was_drawn_since(
    tmp_path: Path,
) -> None:
    one = Place(tmp_path)
    one.names.of("alice")
    other = Place(tmp_path)
    # Both see that it is gone, and one sees that it is back before the other has erased it.
    other.tier.salts.forget(lambda name: name == "alice")
    one.tier.salts.forget(lambda name: name == "alice")
    one.tier.salts.erase()
    one.put("new", 100)
    other.tier.salts.erase()
    other.start()
    assert other.found("new", 100) == 100


def test_a_salt_that_a_neighbour_has_erased_is_not_used_any_more(tmp_path: Path) -> None:
    one = Place(tmp_path)
    before = one.names.of("alice")
    other = Place(tmp_path)
    other.tier.salts.forget(lambda name: name == "alice")
    other.tier.salts.erase()
    one.tier.salts.reload()
    assert one.names.of("alice") != before
    assert other.names.of("alice") == one.names.of("alice")
