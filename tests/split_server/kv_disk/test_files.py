"""Damaged, short, swapped and foreign files: a miss, never a wrong value."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from split_server.kv_disk.counts import FAILURES
from split_server.kv_disk.run_file import header_size
from tests.exhaustive import EXHAUSTIVE
from tests.split_server.kv_disk.tiers import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def failures(place: Place) -> int:
    return sum(place.tier.counts.failed[kind] for kind in FAILURES)


def mutated(data: bytes, random_: random.Random) -> bytes:
    """``data`` with a bit flipped, a piece cut, added, overwritten or exchanged."""
    changed = bytearray(data)
    at = random_.randrange(len(data))
    match random_.randrange(5):
        case 0:
            changed[at] ^= 1 << random_.randrange(8)
        case 1:
            del changed[at:]
        case 2:
            changed += random_.randbytes(random_.randrange(1, 64))
        case 3:
            changed[at : at + 16] = random_.randbytes(len(changed[at : at + 16]))
        case _:
            other = random_.randrange(len(data))
            changed[at], changed[other] = changed[other], changed[at]
    return bytes(changed)


def test_a_mutated_file_is_a_miss_whenever_it_was_mutated(place: Place) -> None:
    random_ = random.Random(7)  # noqa: S311
    place.put("chat", 256)
    (path,) = place.files()
    whole = path.read_bytes()
    for number in range(10_000 if EXHAUSTIVE else 300):
        damaged = mutated(whole, random_)
        path.write_bytes(damaged)
        # Seen by the next start, or by whoever reads it.
        if number % 2:
            place.start()
        else:
            path.write_bytes(whole)
            place.start()
            path.write_bytes(damaged)
        found = place.found("chat", 256)
        assert found == (256 if damaged == whole else 0)
        path.unlink(missing_ok=True)


def test_mutations_are_counted_and_removed_where_they_claim_to_be_ours(place: Place) -> None:
    place.put("chat", 256)
    (path,) = place.files()
    whole = path.read_bytes()
    beyond = header_size(16) + 100
    for data, kind in (
        (whole[:50], "short"),
        (whole[:-1], "short"),
        (whole + b"x", "damaged"),
        (b"other" + whole[5:], "damaged"),
        (whole[:beyond] + bytes([whole[beyond] ^ 1]) + whole[beyond + 1 :], "damaged"),
    ):
        path.write_bytes(whole)
        place.start()
        path.write_bytes(data)
        assert place.found("chat", 256) == 0
        assert place.tier.counts.failed == {kind: 1}
        assert not path.exists()


def test_a_file_under_the_name_of_another_one_is_removed(place: Place) -> None:
    place.put("one", 256)
    (one,) = place.files()
    place.put("other", 256)
    (other,) = set(place.files()) - {one}
    place.tier.close()
    shutil.copyfile(one, other)
    assert place.found("other", 256) == 256
    place.start()
    assert (place.found("other", 256), place.found("one", 256)) == (0, 256)
    assert place.tier.counts.failed == {"swapped": 1}
    assert not other.exists()


def test_files_of_another_version_or_key_are_left(place: Place) -> None:
    place.put("chat", 256)
    (path,) = place.files()
    whole = path.read_bytes()
    for changed in (whole[:8] + b"\1\0" + whole[10:], whole[:32] + bytes(8) + whole[40:]):
        path.write_bytes(changed)
        place.start()
        assert place.found("chat", 256) == 0
        assert path.exists()
        assert failures(place) == 0


def test_what_follows_a_damaged_file_is_missed_and_what_precedes_it_found(place: Place) -> None:
    made = place.put("chat", 700)
    middle = place.folder / f"{made[1].names[512].hex()}.kv"
    middle.write_bytes(middle.read_bytes()[:-1] + b"x")
    place.start()
    assert place.found("chat", 700) == 256


def test_a_pipe_a_link_or_a_folder_in_place_of_a_file_holds_nobody_up(place: Place) -> None:
    place.put("chat", 256)
    (path,) = place.files()
    for make in (os.mkfifo, os.mkdir, lambda at: at.symlink_to("/dev/zero")):
        path.unlink()
        make(path)
        place.start()
        assert place.found("chat", 256) == 0
        path.rmdir() if path.is_dir() else None
        path.touch()


def test_files_of_others_are_never_touched(place: Place) -> None:
    mine = place.folder / "notes.txt"
    mine.write_text("mine")
    (place.folder / "a.kv").write_text("not a run's name")
    place.start(total=1 << 20)
    place.wall.now += 1e7
    place.clock.now += 100
    place.tier._beat()
    assert mine.exists()
    assert (place.folder / "a.kv").exists()
