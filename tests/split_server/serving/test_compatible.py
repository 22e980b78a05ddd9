"""Ends for the compatible APIs, while another process works on the same cache folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from split_client.weights.locks import Lock
from split_client.weights.store import ModelStore
from split_server.serving import compatible
from split_server.serving.compatible import open_local_ends
from split_server.serving.config import ServerConfig
from split_server.serving.model import ServedModel, load_model


class _Time:
    """A clock that runs while somebody waits; ``then`` happens at the first pause."""

    def __init__(self, held: Lock | None = None) -> None:
        self.now = 0.0
        self._held = held

    def clock(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds
        if self._held is not None:
            self._held.release()


@pytest.fixture(scope="module")
def model(tiny_path: Path) -> ServedModel:
    return load_model(ServerConfig(model=str(tiny_path)))


@pytest.fixture
def held(model: ServedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lock:
    """What another server holds while it copies the same ends."""
    monkeypatch.setenv("SPLIT_CACHE", str(tmp_path))
    return ModelStore().claim(model.manifest.digest)


def test_another_server_that_copies_the_same_ends_is_waited_for(
    model: ServedModel, held: Lock, caplog: pytest.LogCaptureFixture
) -> None:
    time = _Time(held)
    ends = open_local_ends(model, time.clock, time.pause)
    assert ends is not None
    ends.close()
    assert "waiting up to" in caplog.text
    assert "are off" not in caplog.text


def test_one_that_never_ends_is_told_loudly_and_once(
    model: ServedModel, held: Lock, caplog: pytest.LogCaptureFixture
) -> None:
    time = _Time()
    assert open_local_ends(model, time.clock, time.pause) is None
    held.release()
    assert time.now >= compatible.WAIT_SECONDS
    (error,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert "the OpenAI and Kobold APIs are off" in error.getMessage()
    assert caplog.text.count("waiting up to") == 1
