from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from split_client.errors import (
    ChecksumMismatch,
    ConnectionLost,
    DiskFull,
    DownloadFailed,
    ManifestInvalid,
    NotEnoughSpace,
    ServerRefused,
    ServerUnreachable,
)
from split_client.transport.endpoint import Endpoint
from split_client.weights.download import WeightsSource
from split_client.weights.manifest import parse_manifest
from split_client.weights.pull import MAX_TRIES, Progress, fetch_manifest, pull
from split_client.weights.store import ModelStore, StoredModel
from tests.split_client.servers import http_server, respond, unused_endpoint
from tests.split_client.weights.offers import CHUNK, DOCUMENT, FILES, WeightsServer, encoded

MANIFEST = parse_manifest(encoded(DOCUMENT))


class Puller:
    """Pulls from one endpoint into one store, waiting without time."""

    def __init__(self, endpoint: Endpoint, cache: Path) -> None:
        self.source = WeightsSource(endpoint, None)
        self.store = ModelStore(cache)
        self.waits: list[float] = []
        self.progress: list[Progress] = []

    def __call__(self) -> StoredModel:
        manifest, data = fetch_manifest(self.source)
        return pull(
            self.source,
            self.store,
            manifest,
            data,
            progress=self.progress.append,
            pause=self.waits.append,
            chance=lambda: 0.5,
        )


@contextmanager
def pulling(server: WeightsServer, cache: Path) -> Iterator[Puller]:
    with server.running() as endpoint:
        puller = Puller(endpoint, cache)
        yield puller
        puller.source.close()


def assert_whole(stored: StoredModel) -> None:
    assert stored.complete
    for name, data in FILES.items():
        assert stored.path(name).read_bytes() == data


def test_a_model_is_pulled_whole_and_then_found(tmp_path: Path) -> None:
    with pulling(WeightsServer(), tmp_path) as puller:
        assert puller.store.find(MANIFEST.digest) is None
        assert_whole(puller())
        found = puller.store.find(MANIFEST.digest)
    assert found is not None
    assert_whole(found)
    assert puller.progress[-1].done == puller.progress[-1].total == MANIFEST.size


def test_a_second_pull_fetches_nothing(tmp_path: Path) -> None:
    server = WeightsServer()
    with pulling(server, tmp_path) as puller:
        puller()
        server.requests.clear()
        assert_whole(puller())
    assert server.requests == []


def test_cut_connections_are_taken_up_at_the_last_whole_chunk(tmp_path: Path) -> None:
    server = WeightsServer(cut_after=[CHUNK + 10, 5, 2 * CHUNK])
    with pulling(server, tmp_path) as puller:
        assert_whole(puller())
    starts = [start for name, start in server.requests if name == "embedding.bin"]
    assert starts == [0, CHUNK, CHUNK, 3 * CHUNK]
    assert len(puller.waits) == 3


def test_a_pull_that_was_killed_continues_where_it_stopped(tmp_path: Path) -> None:
    server = WeightsServer(cut_after=[2 * CHUNK + 7] * MAX_TRIES * 3)
    with pulling(server, tmp_path) as puller:
        folder = puller.store.begin(MANIFEST, encoded(DOCUMENT))
        # What a killed process leaves: whole chunks, and half of one.
        (folder / "embedding.bin").write_bytes(FILES["embedding.bin"][: 2 * CHUNK + 100])
        server.cut_after.clear()
        assert_whole(puller())
    assert ("embedding.bin", 2 * CHUNK) in server.requests
    assert ("embedding.bin", 0) not in server.requests


def test_only_damaged_chunks_of_a_stored_model_are_fetched_again(tmp_path: Path) -> None:
    server = WeightsServer()
    with pulling(server, tmp_path) as puller:
        path = puller().path("embedding.bin")
        damaged = bytearray(path.read_bytes())
        damaged[CHUNK + 3] ^= 1
        damaged[3 * CHUNK] ^= 1
        path.write_bytes(damaged)
        server.requests.clear()
        assert_whole(puller())
    assert server.requests == [("embedding.bin", CHUNK), ("embedding.bin", 3 * CHUNK)]


def test_a_chunk_that_arrives_damaged_once_is_fetched_again(tmp_path: Path) -> None:
    with pulling(WeightsServer(corrupt=[CHUNK + 1]), tmp_path) as puller:
        assert_whole(puller())


def test_a_chunk_that_stays_wrong_is_named_and_not_kept(tmp_path: Path) -> None:
    with pulling(WeightsServer(always_corrupt=[CHUNK + 1]), tmp_path) as puller:
        with pytest.raises(ChecksumMismatch) as caught:
            puller()
        assert (caught.value.file, caught.value.chunk) == ("embedding.bin", 1)
        [partial] = puller.store.list()
    assert not partial.complete
    assert partial.path("embedding.bin").read_bytes() == FILES["embedding.bin"][:CHUNK]


def test_a_server_without_ranges_is_read_past_what_is_there(tmp_path: Path) -> None:
    server = WeightsServer(ranges=False, cut_after=[2 * CHUNK + 9])
    with pulling(server, tmp_path) as puller:
        assert_whole(puller())


def test_a_server_that_stays_cut_off_is_given_up_with_what_arrived(tmp_path: Path) -> None:
    server = WeightsServer(cut_after=[CHUNK] + [0] * 100)
    with pulling(server, tmp_path) as puller:
        with pytest.raises(DownloadFailed, match="pull again"):
            puller()
        assert len(puller.waits) == MAX_TRIES - 1
        server.cut_after.clear()
        assert_whole(puller())


def test_a_file_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pulling(WeightsServer(status={"tokenizer.json": 404}), tmp_path) as puller:
        with pytest.raises(ServerRefused, match="404"):
            puller()
        assert puller.waits == []


def test_a_server_that_fails_for_a_while_is_asked_again(tmp_path: Path) -> None:
    server = WeightsServer(status={"tokenizer.json": 503})
    with pulling(server, tmp_path) as puller:
        with pytest.raises(DownloadFailed):
            puller()
        assert len(puller.waits) == MAX_TRIES - 1


def test_space_is_checked_before_anything_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = WeightsServer()
    with pulling(server, tmp_path) as puller:
        monkeypatch.setattr(ModelStore, "free_bytes", lambda _: 1000)
        with pytest.raises(NotEnoughSpace) as caught:
            puller()
    assert (caught.value.needed, caught.value.free) == (MANIFEST.size, 1000)
    assert server.requests == []


@contextmanager
def files_of_at_most(count: int) -> Iterator[None]:
    """The system refuses to let any file of this process grow beyond ``count`` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)


def test_a_disk_that_fills_up_leaves_a_pull_that_continues(tmp_path: Path) -> None:
    server = WeightsServer()
    with pulling(server, tmp_path) as puller:
        with files_of_at_most(2 * CHUNK + 5), pytest.raises(DiskFull) as caught:
            puller()
        assert caught.value.code == "disk_full"
        server.requests.clear()
        assert_whole(puller())
    assert ("embedding.bin", 2 * CHUNK) in server.requests


def test_a_manifest_that_is_none_is_refused(tmp_path: Path) -> None:
    with pulling(WeightsServer(manifest=b"{}"), tmp_path) as puller, pytest.raises(ManifestInvalid):
        puller()


def test_a_manifest_without_end_is_cut_off(tmp_path: Path) -> None:
    server = WeightsServer(manifest=bytes(5 << 20))
    with pulling(server, tmp_path) as puller, pytest.raises(DownloadFailed):
        puller()


def test_a_server_that_is_gone_is_unreachable(tmp_path: Path) -> None:
    with unused_endpoint() as endpoint:
        puller = Puller(endpoint, tmp_path)
        with pytest.raises(ServerUnreachable):
            puller()
        puller.source.close()


@pytest.mark.parametrize(
    ("headers", "error"),
    [
        ({"Content_Encoding": "gzip"}, DownloadFailed),
        ({}, ManifestInvalid),
    ],
)
def test_a_compressed_answer_is_refused(
    headers: dict[str, str], error: type[Exception], tmp_path: Path
) -> None:
    with http_server(get=lambda handler: respond(handler, 200, b"x", **headers)) as endpoint:
        puller = Puller(endpoint, tmp_path)
        with pytest.raises(error):
            puller()
        puller.source.close()


def test_another_range_than_the_one_asked_for_is_refused(tmp_path: Path) -> None:
    def get(handler: object) -> None:
        respond(handler, 206, b"x", Content_Range="bytes 7-7/9")  # type: ignore[arg-type]

    with http_server(get=get) as endpoint:
        source = WeightsSource(endpoint, None)
        with pytest.raises(DownloadFailed, match="another range"):
            list(source.read("embedding.bin", 5))
        source.close()


def test_a_body_cut_short_is_a_lost_connection(tmp_path: Path) -> None:
    server = WeightsServer(cut_after=[10])
    with server.running() as endpoint:
        source = WeightsSource(endpoint, None)
        with pytest.raises(ConnectionLost):
            list(source.read("embedding.bin", 0))
        source.close()
