"""Replicas behind the shipped HAProxy, both of them real; left out where it is not installed."""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from scripts.bench.fleet.balancers import Balancer
from scripts.bench.fleet.replicas import free_port
from scripts.deploying.balancers import accepted_by_haproxy
from scripts.deploying.certificate import self_signed
from scripts.deploying.shipped import HAPROXY, Ports, haproxy_config
from split_client.api import SamplingParams, SplitClient
from split_wire.messages import SUBPROTOCOL
from tests import oracle
from tests.patience import until
from tests.server_process import STREAM_PATH, RunningServer, running_server

pytestmark = pytest.mark.skipif(shutil.which("haproxy") is None, reason="needs haproxy")
_TOKEN = "a-token-of-enough-length"
_HEADERS = {"Authorization": f"Bearer {_TOKEN}"}
_MANIFEST = "/weights/manifest.json"
_Two: TypeAlias = tuple[RunningServer, RunningServer]


@contextlib.contextmanager
def _in_front(folder: Path, *servers: RunningServer) -> Iterator[Balancer]:
    """The shipped configuration; both listeners of a replica are one here."""
    port = free_port()
    ports = [Ports(server.port, server.port) for server in servers]
    file = folder / "haproxy.cfg"
    text = haproxy_config(HAPROXY.read_text(), f"127.0.0.1:{port}", ports, folder)
    file.write_text(text)
    balancer = Balancer("HAProxy", ["haproxy", "-q", "-f", str(file)], port, folder)
    balancer.start()
    try:
        until(lambda: all(state == "UP" for state in balancer.states().values()))
        yield balancer
    finally:
        balancer.kill()


@contextlib.contextmanager
def _replicas(model: Path) -> Iterator[_Two]:
    with (
        running_server(model, token=_TOKEN, balancer=("127.0.0.1",)) as one,
        running_server(model, token=_TOKEN, balancer=("127.0.0.1",)) as other,
    ):
        yield one, other


@pytest.fixture(scope="module")
def two(tiny_path: Path) -> Iterator[_Two]:
    """Two that tests leave as they are."""
    with _replicas(tiny_path) as both:
        yield both


@pytest.fixture
def frail(tiny_path: Path) -> Iterator[_Two]:
    """Two of one test alone."""
    with _replicas(tiny_path) as both:
        yield both


def _socket(balancer: Balancer, id: str, compression: str | None = None) -> ClientConnection:
    return connect(
        f"ws{balancer.url.removeprefix('http')}{STREAM_PATH}?s={id}",
        subprotocols=[Subprotocol(SUBPROTOCOL)],
        additional_headers=_HEADERS,
        compression=compression,
        proxy=None,
    )


def _sockets(server: RunningServer) -> int:
    return len(server.app._shared.sockets)


def _home(two: _Two, balancer: Balancer, id: str) -> int:
    """Which of the two a socket with the routing id reaches."""
    before = [_sockets(server) for server in two]
    with _socket(balancer, id):
        until(lambda: sum(map(_sockets, two)) == sum(before) + 1)
        after = [_sockets(server) for server in two]
    until(lambda: [_sockets(server) for server in two] == before)
    return next(number for number in (0, 1) if after[number] > before[number])


def test_haproxy_accepts_the_shipped_file_without_a_warning(tmp_path: Path) -> None:
    ports = [Ports(8101, 9101), Ports(8102, 9102)]
    certificate = self_signed(tmp_path)
    text = haproxy_config(HAPROXY.read_text(), "127.0.0.1:18443", ports, tmp_path, certificate)
    accepted_by_haproxy(text, tmp_path)


def test_nobody_comes_in_without_a_token_and_figures_stay_inside(two: _Two, tmp_path: Path) -> None:
    with _in_front(tmp_path, *two) as balancer, httpx.Client(trust_env=False) as client:

        def status(path: str, **headers: str) -> int:
            return client.get(balancer.url + path, headers=headers).status_code

        assert status(_MANIFEST) == 401
        assert status(_MANIFEST, **{"X-Forwarded-For": "127.0.0.1"}) == 401
        assert status(_MANIFEST, **_HEADERS) == 200
        for path in ("/metrics", "/%6detrics", "/m/any/metrics", "/metrics?s=1"):
            assert status(path, **_HEADERS) == 404, path


def test_frames_are_not_compressed_whatever_a_client_offers(two: _Two, tmp_path: Path) -> None:
    with (
        _in_front(tmp_path, *two) as balancer,
        _socket(balancer, "abc", compression="deflate") as socket,
    ):
        assert socket.protocol.extensions == []


def test_sockets_of_one_id_reach_one_replica_and_those_of_many_both(
    two: _Two, tmp_path: Path
) -> None:
    with _in_front(tmp_path, *two) as balancer:
        ids = [secrets.token_urlsafe(16) for _ in range(12)]
        homes = {id: _home(two, balancer, id) for id in ids}
        assert {*homes.values()} == {0, 1}
        for id in ids[:3]:
            assert _home(two, balancer, id) == homes[id]


@pytest.mark.parametrize("id", ["%61%62", "a" * 8000, "x&s=y", "", "%00", "'\"<>"])
def test_a_hostile_id_is_let_through_and_means_nothing(two: _Two, tmp_path: Path, id: str) -> None:
    with _in_front(tmp_path, *two) as balancer, httpx.Client(trust_env=False) as client:
        answer = client.get(f"{balancer.url}{_MANIFEST}?s={id}", headers=_HEADERS)
        assert answer.status_code == 200


@pytest.mark.parametrize("carrier", ["websocket", "http"])
def test_a_reply_through_it_is_the_models(
    two: _Two, tmp_path: Path, tiny_path: Path, carrier: str
) -> None:
    with (
        _in_front(tmp_path, *two) as balancer,
        SplitClient(
            balancer.url,
            token=_TOKEN,
            cache=tmp_path / "cache",
            transport=carrier,  # type: ignore[arg-type]
        ) as client,
    ):
        reply = client.generate("Hello", SamplingParams(temperature=0.0), max_tokens=8)
        reply.read()
        ids = client.ends.tokenizer.encode("Hello", add_special_tokens=True)
    assert reply.token_ids == oracle.greedy(tiny_path, ids, 8)[: len(reply.token_ids)]


def test_a_replica_that_leaves_gets_nothing_new_and_keeps_its_sockets(
    frail: _Two, tmp_path: Path
) -> None:
    with _in_front(tmp_path, *frail) as balancer:
        id = next(one for one in map(str, range(100)) if _home(frail, balancer, one) == 0)
        with _socket(balancer, id) as socket:
            frail[0].loop.call_soon_threadsafe(frail[0].app.leave)
            until(lambda: balancer.states()["r01"] != "UP")
            assert balancer.states()["r01"].startswith("NOLB")
            assert _home(frail, balancer, id) == 1
            assert socket.ping().wait(10)


def test_a_replica_that_is_gone_is_passed_over_at_once(frail: _Two, tmp_path: Path) -> None:
    with _in_front(tmp_path, *frail) as balancer:
        ids = [str(number) for number in range(6)]
        frail[0].stop()
        for id in ids:
            with _socket(balancer, id):
                until(lambda: _sockets(frail[1]) == 1)
            until(lambda: _sockets(frail[1]) == 0)
