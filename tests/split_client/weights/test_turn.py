"""Pulls of one model beside others that use it, pull it or begin to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from split_client.errors import ModelInUse
from split_client.weights.download import WeightsSource
from split_client.weights.locks import Lock
from split_client.weights.manifest import parse_manifest
from split_client.weights.pull import Progress, pull
from split_client.weights.store import ModelStore, StoredModel
from split_client.weights.turn import Turn
from tests.split_client.weights.offers import CHUNK, DOCUMENT, FILES, WeightsServer, encoded

DATA = encoded(DOCUMENT)
MANIFEST = parse_manifest(DATA)


class Machine:
    """A cache folder with a server of its model; ``meanwhile`` is done in each wait, in turn."""

    def __init__(self, source: WeightsSource, cache: Path) -> None:
        self.store = ModelStore(cache)
        self.meanwhile: list[Callable[[], object]] = []
        self.progress: list[Progress] = []
        self.waits = 0
        self._source = source

    def pull(self, patience: float = 60.0) -> StoredModel:
        return pull(
            self._source,
            self.store,
            MANIFEST,
            DATA,
            progress=self.progress.append,
            pause=self._pause,
            patience=patience,
        )

    def other(self, chunks: int) -> tuple[Lock, Path]:
        """Another process that has pulled so much; its lock, and its folder."""
        lock = self.store.claim(MANIFEST.digest)
        folder = self.store.begin(MANIFEST, DATA)
        self.bring(folder, chunks)
        return lock, folder

    def bring(self, folder: Path, chunks: int) -> None:
        (folder / "embedding.bin").write_bytes(FILES["embedding.bin"][: chunks * CHUNK])

    def finish(self, lock: Lock, folder: Path) -> None:
        """The other process comes to its end."""
        for name, data in FILES.items():
            (folder / name).write_bytes(data)
        self.store.commit(MANIFEST.digest)
        lock.release()

    def _pause(self, _: float) -> None:
        self.waits += 1
        if self.meanwhile:
            self.meanwhile.pop(0)()


@pytest.fixture
def server() -> WeightsServer:
    return WeightsServer()


@pytest.fixture
def machine(server: WeightsServer, tmp_path: Path) -> Iterator[Machine]:
    with server.running() as endpoint:
        source = WeightsSource(endpoint, None)
        yield Machine(source, tmp_path)
        source.close()


@contextmanager
def _used(machine: Machine) -> Iterator[None]:
    """As a server holds the ends of the model that it serves."""
    with machine.store.use(MANIFEST.digest):
        yield


def test_a_whole_model_is_verified_while_it_is_in_use(
    machine: Machine, server: WeightsServer
) -> None:
    machine.pull()
    server.requests.clear()
    machine.progress.clear()
    with _used(machine):
        assert machine.pull().complete
        assert machine.pull(patience=0.0).complete
    assert (server.requests, machine.waits) == ([], 0)
    assert machine.progress[-1].done == MANIFEST.size


def test_a_damaged_one_is_left_alone_while_it_is_in_use_and_then_mended(
    machine: Machine, server: WeightsServer
) -> None:
    path = machine.pull().path("embedding.bin")
    path.write_bytes(b"x" + FILES["embedding.bin"][1:])
    server.requests.clear()
    with _used(machine), pytest.raises(ModelInUse):
        machine.pull()
    assert path.read_bytes()[:1] == b"x"
    assert server.requests == []
    machine.pull()
    assert path.read_bytes() == FILES["embedding.bin"]


def test_the_pull_of_another_process_is_waited_for_and_shown(
    machine: Machine, server: WeightsServer
) -> None:
    lock, folder = machine.other(1)
    machine.meanwhile = [
        lambda: machine.bring(folder, 2),
        lambda: None,
        lambda: machine.finish(lock, folder),
    ]
    assert machine.pull().complete
    assert server.requests == []
    noted, *shown = machine.progress
    assert (noted.file, noted.note) == ("tiny", "another process fetches it; waiting")
    assert [progress.done for progress in shown] == [CHUNK, 2 * CHUNK, 2 * CHUNK]
    assert {(progress.total, progress.note) for progress in shown} == {(MANIFEST.size, "")}


def test_what_another_process_left_when_it_died_is_taken_up(
    machine: Machine, server: WeightsServer
) -> None:
    lock, _ = machine.other(2)
    machine.meanwhile = [lock.release]
    assert machine.pull().complete
    assert ("embedding.bin", 2 * CHUNK) in server.requests
    assert ("embedding.bin", 0) not in server.requests


def test_one_that_brings_nothing_any_more_is_given_up(machine: Machine) -> None:
    lock, folder = machine.other(1)
    machine.meanwhile = [lambda: None] * 4 + [lambda: machine.bring(folder, 2)]
    with lock, pytest.raises(ModelInUse):
        machine.pull(patience=1.0)
    assert 5 + 5 <= machine.waits <= 5 + 6


def test_nobody_is_waited_for_without_patience(machine: Machine) -> None:
    with machine.store.claim(MANIFEST.digest), pytest.raises(ModelInUse):
        machine.pull(patience=0.0)
    assert machine.waits == 0


def test_a_look_of_another_process_keeps_nobody_from_pulling(machine: Machine) -> None:
    looking = machine.store.use(MANIFEST.digest)
    machine.meanwhile = [looking.release]
    assert machine.pull().complete
    assert machine.waits == 1


def test_a_model_is_used_as_soon_as_its_pull_has_ended(machine: Machine) -> None:
    lock = machine.store.claim(MANIFEST.digest)
    turn = Turn(machine.store, MANIFEST.digest, lambda _: lock.release())
    turn.use().release()
    assert turn.waited
