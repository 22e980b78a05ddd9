"""How fast a disk reads: told of the disk that layers lie on, and 0 where nothing can be told."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

import pytest

from split_server.checkpoint.layers import speed
from split_server.checkpoint.layers.opening import DIRECT, opened_direct

_MIB = 1 << 20


@pytest.fixture
def small_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "_READ_BYTES", _MIB)
    monkeypatch.setattr(speed, "_WRITTEN_BYTES", 4 * _MIB)


def _clock() -> speed.Clock:
    """An eighth of a second each time it is looked at."""
    ticks = count()
    return lambda: next(ticks) / 8


def _require_direct(folder: Path) -> None:
    probe = folder / "probe"
    probe.write_bytes(bytes(_MIB))
    descriptor, direct = opened_direct(probe)
    os.close(descriptor)
    probe.unlink()
    if not DIRECT or not direct:
        pytest.skip("no reads past the page cache here")


@pytest.mark.usefixtures("small_reads")
def test_layers_that_lie_in_the_folder_are_read_rather_than_the_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _require_direct(tmp_path)
    weights, layers = tmp_path / "weights", tmp_path / "one.layers"
    weights.write_bytes(bytes(2 * _MIB))
    layers.write_bytes(bytes(_MIB))
    seen: list[Path] = []

    def opening(path: Path) -> tuple[int, bool]:
        seen.append(path)
        return opened_direct(path)

    monkeypatch.setattr(speed, "opened_direct", opening)
    assert speed.folder_speed(tmp_path, [weights], _clock()) > 0
    assert seen == [layers]


@pytest.mark.usefixtures("small_reads")
def test_weights_on_another_disk_say_nothing_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _require_direct(tmp_path)
    elsewhere = Path("/proc/self/status")
    monkeypatch.setattr(speed, "opened_direct", lambda path: pytest.fail(f"{path} was read"))
    folder = tmp_path / "not" / "made"
    assert speed.folder_speed(folder, [elsewhere], _clock()) > 0
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_read_or_written_nothing_is_told(tmp_path: Path) -> None:
    assert speed.read_speed([]) == 0
    assert speed.read_speed([tmp_path]) == 0
    assert speed.folder_speed(Path("/proc/none"), [tmp_path / "gone"]) == 0
