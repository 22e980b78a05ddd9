"""Servers and relays that go away: the client says so, and goes on when they come back in time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import pytest

from split_client.api import SplitClient
from split_client.chat.reply import Reply
from split_client.errors import ClientError, ConnectionLost, ServerRefused, ServerUnreachable
from split_client.generation.loop import TokenEvent
from split_client.generation.sampling.params import SamplingParams
from split_client.transport.channel import Channel, Patience
from split_client.transport.connect import connector
from split_client.transport.endpoint import Endpoint
from split_client.transport.remote import RemoteBackend
from split_wire.limits import frame_limit
from tests import oracle
from tests.end_to_end.bystander import undisturbed
from tests.end_to_end.relays import running_relay
from tests.end_to_end.server_processes import server_process
from tests.exhaustive import EXHAUSTIVE
from tests.proxies import CuttingProxy
from tests.server_process import RunningServer, running_server
from tests.split_relay.net import free_port

Transport = Literal["websocket", "http"]
TRANSPORTS: tuple[Transport, ...] = ("websocket", "http")
PROMPT = "Hello, how are you today?"
GREEDY = SamplingParams()
COUNT = 24
SHORT = Patience(connect=1.0, total=0.5, first_delay=0.05)


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path) as running:
        yield running


def asked(client: SplitClient) -> Reply:
    return client.generate(PROMPT, GREEDY, max_tokens=COUNT)


def some_tokens(events: Iterator[object], count: int) -> None:
    """Read ``count`` tokens of a reply's events."""
    while count:
        count -= isinstance(next(events), TokenEvent)


def expected(client: SplitClient, path: Path) -> list[int]:
    ids = oracle.greedy(path, client.ends.tokenizer.encode(PROMPT, add_special_tokens=True), COUNT)
    assert len(ids) == COUNT
    return ids


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_server_that_is_gone_for_good_is_reported_after_the_clients_patience(
    transport: Transport, server: RunningServer, tiny_path: Path, tmp_path: Path
) -> None:
    with (
        undisturbed(server, tiny_path),
        CuttingProxy(server.port) as way,
        SplitClient(way.url, cache=tmp_path, transport=transport, patience=SHORT) as client,
    ):
        events = asked(client).events()
        some_tokens(events, 3)
        way.__exit__()
        way.cut_after(0)
        begun = time.monotonic()
        with pytest.raises((ServerUnreachable, ConnectionLost)) as caught:
            some_tokens(events, COUNT)
        # The usual patience is two minutes; a busy machine adds to any of them.
        assert time.monotonic() - begun < 60
    assert caught.value.code in ("server_unreachable", "connection_lost")


def test_a_server_that_never_was_there_is_unreachable(tmp_path: Path) -> None:
    with pytest.raises(ServerUnreachable, match="nothing listens on port"):
        SplitClient(f"http://127.0.0.1:{free_port()}", cache=tmp_path, patience=SHORT).connect()


@pytest.mark.slow
@pytest.mark.skipif(not EXHAUSTIVE, reason="test_soak kills a server that has more clients")
def test_a_server_killed_in_the_middle_that_comes_back_gives_identical_text(
    tiny_path: Path, tmp_path: Path
) -> None:
    with server_process(tiny_path, free_port()) as server, ExitStack() as open_clients:
        clients = [
            open_clients.enter_context(SplitClient(server.url, cache=tmp_path, transport=transport))
            for transport in TRANSPORTS
        ]
        replies = [asked(client) for client in clients]
        events = [reply.events() for reply in replies]
        for each in events:
            some_tokens(each, 5)
        server.kill()
        server.start()
        for each in events:
            for _ in each:
                pass
        for client, reply in zip(clients, replies, strict=True):
            assert reply.token_ids == expected(client, tiny_path)
            # The first session, its tokens, and at least one repetition.
            assert client.stats.exchanges > 1 + COUNT


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_relay_whose_upstream_is_down_says_so_to_the_client(
    transport: Transport, tmp_path: Path
) -> None:
    with running_relay(free_port(), connect_timeout=0.1) as url:
        client = SplitClient(url, cache=tmp_path, transport=transport, patience=SHORT)
        with pytest.raises(ServerRefused, match="behind this relay") as caught:
            client.connect()
    assert (caught.value.code, caught.value.retryable) == ("upstream_unavailable", True)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_upstream_that_goes_down_for_good_ends_a_session_with_its_code(
    transport: Transport, tiny_path: Path
) -> None:
    with (
        running_server(tiny_path) as server,
        running_relay(server.port, connect_timeout=0.1) as url,
    ):
        info = server.parts.steps.info
        connect = connector(Endpoint.parse(url), None, frame_limit(info.hidden_size, 1))
        channel = Channel(connect, transport, SHORT)
        backend = RemoteBackend(
            channel, info.hidden_size, server.manifest, info.max_context, busy_patience=0.5
        )
        backend.open()
        rows = oracle.embeddings(tiny_path, [1, 2, 3]).numpy()
        backend.step(0, rows)
        server.stop()
        with pytest.raises(ClientError) as caught:
            backend.step(3, rows)
        channel.close()
    assert caught.value.code == "upstream_unavailable"


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_upstream_that_comes_back_gives_identical_text(
    transport: Transport, tiny_path: Path, tmp_path: Path
) -> None:
    with (
        running_server(tiny_path) as first,
        running_relay(first.port, connect_timeout=0.2) as url,
        SplitClient(url, cache=tmp_path, transport=transport) as client,
    ):
        reply = asked(client)
        events = reply.events()
        some_tokens(events, 5)
        first.stop()
        with running_server(tiny_path, port=first.port) as again, undisturbed(again, tiny_path):
            for _ in events:
                pass
        assert reply.token_ids == expected(client, tiny_path)


def test_a_relay_that_stops_is_unreachable_and_the_server_behind_it_goes_on(
    server: RunningServer, tiny_path: Path, tmp_path: Path
) -> None:
    with undisturbed(server, tiny_path):
        with running_relay(server.port) as url:
            client = SplitClient(url, cache=tmp_path, patience=SHORT)
            events = asked(client).events()
            some_tokens(events, 3)
        with pytest.raises(ServerUnreachable):
            some_tokens(events, COUNT)
        client.close()
