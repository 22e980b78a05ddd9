"""Round trips of a client, counted by a proxy: what is not needed is not waited for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from split_client.api import SplitClient
from split_client.generation.sampling.params import SamplingParams
from tests.patience import PATIENCE, until
from tests.proxies import WatchingProxy
from tests.server_process import RunningServer, running_server

GREEDY = SamplingParams()
MANIFEST, SOCKET = b"GET /weights/manifest.json", b"GET /api/v1/split/stream"


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture
def cache(server: RunningServer, tmp_path: Path) -> Path:
    """Where the model's ends are kept already."""
    with SplitClient(server.url, cache=tmp_path):
        pass
    until(lambda: sessions(server) == 0)
    return tmp_path


def sessions(server: RunningServer) -> int:
    return len(server.parts.steps.store.idle())


def test_the_first_token_of_a_process_takes_four_round_trips(
    server: RunningServer, cache: Path
) -> None:
    upgrading = threading.Event()

    def hold(first: bytes) -> None:
        # The manifest comes once the socket is asked for, so nothing may wait for it before.
        if SOCKET in first:
            upgrading.set()
        elif MANIFEST in first:
            assert upgrading.wait(PATIENCE)

    with WatchingProxy(server.port, hold) as proxy:
        client = SplitClient(proxy.url, cache=cache)
        client.connect(begin=True)
        client.generate("The device", GREEDY, max_tokens=1).read()
        assert proxy.trips[proxy.of(MANIFEST)] == 2
        assert proxy.trips[proxy.of(SOCKET)] == 4
        client.close()
        assert proxy.connections == 2


def test_the_first_message_of_a_chat_takes_one_round_trip(
    server: RunningServer, cache: Path
) -> None:
    with WatchingProxy(server.port) as proxy:
        client = SplitClient(proxy.url, cache=cache)
        client.connect(begin=True)
        chat = client.conversation()
        chat.max_tokens = 1
        until(lambda: proxy.trips[proxy.of(SOCKET)] == 3)
        chat.send("Hi").read()
        assert proxy.trips[proxy.of(SOCKET)] == 4
        client.close()


def test_a_session_is_not_asked_for_where_nobody_says_that_it_is_needed(
    server: RunningServer, cache: Path
) -> None:
    with SplitClient(server.url, cache=cache):
        assert sessions(server) == 0


@pytest.mark.parametrize("used", [True, False])
def test_leaving_waits_for_no_answer_and_the_server_ends_the_session(
    server: RunningServer, cache: Path, used: bool
) -> None:
    leaving, answers = threading.Event(), threading.Event()

    def hold(_: bytes) -> None:
        if leaving.is_set():
            answers.wait(PATIENCE)

    with WatchingProxy(server.port, hold) as proxy:
        client = SplitClient(proxy.url, cache=cache)
        client.connect(begin=True)
        if used:
            client.generate("The device", GREEDY, max_tokens=2).read()
        until(lambda: proxy.trips[proxy.of(SOCKET)] >= 3)
        assert sessions(server) == 1
        leaving.set()
        closing = threading.Thread(target=client.close)
        closing.start()
        closing.join(PATIENCE)
        assert not closing.is_alive()
        until(lambda: sessions(server) == 0)
        answers.set()
