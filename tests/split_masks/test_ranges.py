"""Numbers in a file: none comes back, whoever is killed, waits, or turns the file back."""

from __future__ import annotations

import json
import multiprocessing
import threading
from pathlib import Path

import pytest

from split_client.owner_file import write_whole
from split_files import take_lock
from split_masks.errors import (
    MalformedRange,
    RangesBusy,
    RangesDamaged,
    RangesFull,
    RangesUnusable,
    RangeTaken,
)
from split_masks.ranges import RANGE_BYTES, MaskRange, RangeFile


def _file(folder: Path, **options: object) -> RangeFile:
    return RangeFile(folder / "masks.json", write_whole, **options)  # type: ignore[arg-type]


def test_ranges_follow_each_other_and_outlive_the_process(tmp_path: Path) -> None:
    first, second = _file(tmp_path).reserve("ada", 32), _file(tmp_path).reserve("ada", 5)
    assert (first.first, first.count, first.end) == (0, 32, 32)
    assert (second.first, second.count) == (32, 5)
    assert first.name == second.name
    assert _file(tmp_path).reserved() == {"ada": 37}
    assert (tmp_path / "masks.json").stat().st_mode & 0o777 == 0o600


def test_everybody_has_numbers_and_a_name_of_their_own(tmp_path: Path) -> None:
    file = _file(tmp_path)
    ada, babbage = file.reserve("ada", 3), file.reserve("babbage", 3)
    assert ada.first == babbage.first == 0
    assert ada.name != babbage.name
    (tmp_path / "masks.json").unlink()
    assert file.reserve("ada", 3).name != ada.name


def test_a_range_travels_whole() -> None:
    given = MaskRange(bytes(range(16)), 7, 32)
    assert len(given.pack()) == RANGE_BYTES
    assert MaskRange.parse(given.pack()) == given
    assert 7 in given
    assert 38 in given
    assert 39 not in given


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(RANGE_BYTES),
        bytes(RANGE_BYTES + 1),
        MaskRange(bytes(16), 0, 1025).pack(),
        MaskRange(bytes(16), 2**63, 1).pack(),
    ],
)
def test_a_range_that_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedRange):
        MaskRange.parse(data)


def test_a_range_is_taken_once_and_those_before_it_never(tmp_path: Path) -> None:
    host, device = _file(tmp_path), RangeFile(tmp_path / "device.json", write_whole)
    first, second = host.reserve("ada", 8), host.reserve("ada", 8)
    device.accept(first)
    with pytest.raises(RangeTaken, match="turned back") as taken:
        device.accept(first)
    assert taken.value.code == "mask_range_taken"
    device.accept(second)
    with pytest.raises(RangeTaken):
        device.accept(MaskRange(first.name, 15, 1))
    # Numbers in between went to another device of the same token.
    device.accept(MaskRange(first.name, 40, 2))
    device.accept(MaskRange(bytes(16), 0, 2))


def test_the_host_taken_from_longest_ago_makes_room(tmp_path: Path) -> None:
    device = _file(tmp_path, most=3)
    for byte, first in ((1, 0), (2, 0), (3, 0), (1, 9), (4, 0)):
        device.accept(MaskRange(bytes([byte]) * 16, first, 1))
    assert sorted(device.reserved()) == ["01" * 16, "03" * 16, "04" * 16]


def test_a_file_of_the_host_that_is_full_hands_out_no_other_name(tmp_path: Path) -> None:
    host = _file(tmp_path, most=2)
    host.reserve("ada", 1)
    host.reserve("babbage", 1)
    with pytest.raises(RangesFull):
        host.reserve("clara", 1)
    assert host.reserve("ada", 1).first == 1


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b'{"version": 2, "name": "00112233445566778899aabbccddeeff", "next": {}}',
        b'{"version": true, "name": "00112233445566778899aabbccddeeff", "next": {}}',
        b'{"version": 1, "name": "short", "next": {}}',
        b'{"version": 1, "name": "00112233445566778899aabbccddeeff", "next": {"a": -1}}',
        b'{"version": 1, "name": "00112233445566778899aabbccddeeff", "next": {"a": true}}',
        b'{"version": 1, "name": "00112233445566778899aabbccddeeff", "next": {"a": 1, "a": 0}}',
    ],
)
def test_a_damaged_file_stops_both_sides_and_stays_as_it_is(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "masks.json"
    path.write_bytes(data)
    with pytest.raises(RangesDamaged, match="remove it"):
        _file(tmp_path).reserve("ada", 1)
    with pytest.raises(RangesDamaged):
        _file(tmp_path).accept(MaskRange(bytes(16), 0, 1))
    assert path.read_bytes() == data


def test_a_folder_that_is_not_there_or_a_file_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(RangesUnusable):
        _file(tmp_path / "none").reserve("ada", 1)
    (tmp_path / "masks.json").mkdir()
    with pytest.raises(RangesUnusable, match="regular"):
        _file(tmp_path).reserved()


def test_a_disk_that_is_full_hands_out_nothing(tmp_path: Path) -> None:
    def full(path: Path, _: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))

    with pytest.raises(RangesUnusable, match="No space left"):
        RangeFile(tmp_path / "masks.json", full).reserve("ada", 1)
    assert _file(tmp_path).reserve("ada", 1).first == 0


def test_a_lock_that_nobody_gives_back_is_waited_for_within_bounds(tmp_path: Path) -> None:
    waited: list[float] = []
    with take_lock(tmp_path / "masks.json.lock"), pytest.raises(RangesBusy):
        _file(tmp_path, pause=waited.append).reserve("ada", 1)
    assert sum(waited) == pytest.approx(2.0)
    assert _file(tmp_path).reserve("ada", 1).first == 0


def test_threads_never_get_the_same_numbers(tmp_path: Path) -> None:
    file, found = _file(tmp_path), []
    threads = [
        threading.Thread(target=lambda: found.extend(file.reserve("a", 3).first for _ in range(10)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(0, 120, 3))


def _reserving(path: str, told: multiprocessing.Queue[int]) -> None:
    file = RangeFile(Path(path), write_whole)
    for _ in range(10):
        told.put(file.reserve("a", 2).first)


def test_processes_never_get_the_same_numbers(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    told: multiprocessing.Queue[int] = context.Queue()
    path = str(tmp_path / "masks.json")
    processes = [context.Process(target=_reserving, args=(path, told)) for _ in range(3)]
    for process in processes:
        process.start()
    found = sorted(told.get(timeout=60) for _ in range(30))
    for process in processes:
        process.join()
    assert found == list(range(0, 60, 2))
    assert json.loads(Path(path).read_text())["next"] == {"a": 60}
