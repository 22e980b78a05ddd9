"""The web app's wire in Node.js against the real server: what the Python client gets, it gets."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.generation.sequence import Sequence
from split_client.transport.channel import Channel
from split_client.transport.connect import connector
from split_client.transport.endpoint import Endpoint
from split_client.transport.remote import RemoteBackend
from tests.proxies import CuttingProxy
from tests.server_process import RunningServer, running_server
from tests.web.wire.client import node_client, table_of

_FRAME_BYTES = 1 << 24


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path) as running:
        yield running


@pytest.fixture(scope="module")
def table(tiny_path: Path) -> NDArray[np.float32]:
    return table_of(tiny_path)


def assert_same(got: NDArray[np.float32], wanted: NDArray[np.float32]) -> None:
    """But for the order of float32 sums, which depends on where the server keeps the cache."""
    np.testing.assert_allclose(got, wanted, rtol=0, atol=2e-5)


@pytest.fixture
def reference(server: RunningServer, table: NDArray[np.float32]) -> Iterator[Sequence]:
    """The Python client over a connection that nobody cuts."""
    channel = Channel(connector(Endpoint.parse(server.url), None, _FRAME_BYTES))
    # What clients leave on the server is not for others.
    salt = secrets.token_hex()
    backend = RemoteBackend(channel, table.shape[1], server.manifest, 1 << 20, cache_salt=salt)
    sequence = Sequence(backend, lambda tokens: table[tokens])
    yield sequence
    sequence.close()
    channel.close()


def growing(vocabulary: int) -> list[list[int]]:
    """A prefill, tokens one by one, a step back, an edit, and a longer turn."""
    tokens = [int(token) for token in np.random.default_rng(7).integers(0, vocabulary, 80)]
    one_by_one = [tokens[:length] for length in range(40, 48)]
    return [*one_by_one, tokens[:44], tokens[:43] + tokens[60:70], tokens, tokens]


@pytest.mark.parametrize("mode", ["websocket", "http", "auto"])
def test_hidden_states_are_those_of_the_python_client(
    server: RunningServer,
    table: NDArray[np.float32],
    reference: Sequence,
    tmp_path: Path,
    mode: str,
) -> None:
    with node_client(server, table, tmp_path, server.url, mode) as client:
        for tokens in growing(len(table)):
            wanted = reference.extend(tokens).hidden
            assert_same(client.extend(tokens), wanted)
        state = client.ask(state=True)
    assert state["rowsSent"] == reference.counters.rows_sent
    assert state["rowsReused"] == reference.counters.rows_reused
    assert state["transportName"] == ("http" if mode == "http" else "websocket")
    assert state["sessions"] == 1


@pytest.mark.parametrize("mode", ["websocket", "http", "auto"])
def test_no_token_is_appended_twice_when_connections_are_cut(
    server: RunningServer,
    table: NDArray[np.float32],
    reference: Sequence,
    tmp_path: Path,
    mode: str,
) -> None:
    with (
        CuttingProxy(server.port) as proxy,
        node_client(server, table, tmp_path, proxy.url, mode) as client,
    ):
        for turn, tokens in enumerate(growing(len(table))):
            if turn % 2:
                # In the header of the answer, in its rows, or before its first byte.
                proxy.cut_after([0, 60, 200][turn % 3])
            assert_same(client.extend(tokens), reference.extend(tokens).hidden)
        state = client.ask(state=True)
    assert proxy.cuts >= 3
    assert state["reconnects"] >= 3
    # One session and no row more: every cut was repaired by the same bytes.
    assert (state["sessions"], state["resends"]) == (1, 0)
    assert state["rowsSent"] == reference.counters.rows_sent


@pytest.mark.parametrize("mode", ["websocket", "http"])
def test_a_long_prompt_arrives_whole_when_connections_are_cut_with_steps_under_way(
    server: RunningServer,
    table: NDArray[np.float32],
    reference: Sequence,
    tmp_path: Path,
    mode: str,
) -> None:
    tokens = [int(token) for token in np.random.default_rng(5).integers(0, len(table), 400)]
    turns = [tokens[:150], tokens[:100] + tokens[200:], tokens[:310], tokens]
    with (
        CuttingProxy(server.port) as proxy,
        node_client(server, table, tmp_path, proxy.url, mode, maxRows=16) as client,
    ):
        for turn, prompt in enumerate(turns):
            # Within the first answers, or far behind them.
            proxy.cut_after([10, 900, 2500, 300][turn])
            assert_same(client.extend(prompt), reference.extend(prompt).hidden)
        state = client.ask(state=True)
    assert proxy.cuts >= 3
    assert (state["sessions"], state["resends"]) == (1, 0)


def test_a_client_begins_with_what_another_one_of_its_salt_has_sent(
    server: RunningServer,
    table: NDArray[np.float32],
    reference: Sequence,
    tmp_path: Path,
) -> None:
    tokens = [int(token) for token in np.random.default_rng(3).integers(0, len(table), 200)]
    wanted = reference.extend(tokens).hidden

    def state_after(salt: str, dtype: str | None = None) -> Any:
        options = {"cacheSalt": salt, "dtype": dtype}
        with node_client(server, table, tmp_path, server.url, "websocket", **options) as client:
            assert_same(client.extend(tokens), wanted)
            return client.ask(state=True)

    first, again, named, other = [
        state_after("one"),
        state_after("one"),
        state_after("one", "f32"),
        state_after("another"),
    ]
    assert [state["rowsSent"] for state in (first, again, named, other)] == [200, 8, 8, 200]
    assert [state["rowsRestored"] for state in (first, again, named, other)] == [0, 192, 192, 0]
    # An opening, a question unless the dtype was known, and the step.
    assert [state["exchanges"] for state in (first, again, named)] == [3, 3, 2]
    assert again["sent"] < 0.2 * first["sent"]


@pytest.mark.parametrize("mode", ["websocket", "http"])
def test_an_interrupted_step_is_finished_before_the_next_one(
    server: RunningServer,
    table: NDArray[np.float32],
    reference: Sequence,
    tmp_path: Path,
    mode: str,
) -> None:
    with node_client(server, table, tmp_path, server.url, mode) as client:
        steps = growing(len(table))
        assert_same(client.extend(steps[0]), reference.extend(steps[0]).hidden)
        for tokens in steps[1:]:
            # The step is on its way, or on the server already; the reference takes the same steps.
            reference.extend(tokens)
            assert client.ask(interrupt=tokens, after=1) == {"error": "cancelled"}
            longer = [*tokens, 1, 2]
            assert_same(client.extend(longer), reference.extend(longer).hidden)
        state = client.ask(state=True)
    assert (state["sessions"], state["resends"]) == (1, 0)


@pytest.mark.parametrize("mode", ["websocket", "http"])
def test_waking_up_keeps_the_session(
    server: RunningServer,
    table: NDArray[np.float32],
    reference: Sequence,
    tmp_path: Path,
    mode: str,
) -> None:
    with node_client(server, table, tmp_path, server.url, mode) as client:
        for tokens in growing(len(table))[:4]:
            client.ask(wake=True)
            assert_same(client.extend(tokens), reference.extend(tokens).hidden)
        assert client.ask(state=True)["sessions"] == 1


def test_a_server_that_restarts_is_sent_the_conversation_again(
    tiny_path: Path, table: NDArray[np.float32], tmp_path: Path, reference: Sequence
) -> None:
    steps = growing(len(table))
    with running_server(tiny_path) as first:
        port = first.port
        client_at = node_client(first, table, tmp_path, first.url, "auto")
        client = client_at.__enter__()
        client.extend(steps[0])
    with running_server(tiny_path, port=port):
        assert_same(client.extend(steps[1]), reference.extend(steps[1]).hidden)
        state = client.ask(state=True)
        client_at.__exit__(None, None, None)
    assert (state["resends"], state["sessions"]) == (1, 2)


def test_nobody_at_the_address_is_told_after_the_patience(
    server: RunningServer, table: NDArray[np.float32], tmp_path: Path
) -> None:
    patience = {"total": 0.2, "firstDelay": 0.01}
    with (
        CuttingProxy(server.port) as gone,
        node_client(server, table, tmp_path, gone.url, "auto", patience=patience) as client,
    ):
        gone.__exit__()
        assert client.ask(extend=[1, 2]) == {"error": "server_unreachable"}
