"""Connections that die without a word, or are given up while the server computes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from split_server.sessions.framed import Answer
from tests import oracle
from tests.server_process import RunningServer, running_server
from tests.web.wire.client import node_client, table_of
from tests.web.wire.silent_proxy import SilentProxy


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    with running_server(tiny_path) as running:
        yield running


@pytest.fixture(scope="module")
def table(tiny_path: Path) -> NDArray[np.float32]:
    return table_of(tiny_path)


def assert_true(model: Path, hidden: NDArray[np.float32], tokens: list[int]) -> None:
    """The logits are those of the whole model, so each of ``tokens`` was appended once."""
    got = oracle.model(model).get_output_embeddings().weight.detach().numpy() @ hidden
    np.testing.assert_allclose(got, oracle.logits(model, tokens)[-1].numpy(), rtol=0, atol=1e-4)


@pytest.mark.parametrize("mode", ["websocket", "http"])
def test_a_connection_that_died_without_a_word_is_replaced(
    server: RunningServer, tiny_path: Path, table: NDArray[np.float32], tmp_path: Path, mode: str
) -> None:
    tokens = [int(token) for token in np.random.default_rng(3).integers(0, len(table), 30)]
    with (
        SilentProxy(server.port) as proxy,
        node_client(
            server, table, tmp_path, proxy.url, mode, patience={"quiet": 0.5, "connect": 2}
        ) as client,
    ):
        for length in range(20, 23):
            assert_true(tiny_path, client.extend(tokens[:length]), tokens[:length])
            proxy.fall_silent()
        state = client.ask(state=True)
    assert (state["sessions"], state["resends"], state["rowsSent"]) == (1, 0, 22)


def test_after_waking_up_a_dead_socket_costs_a_probe_and_not_the_patience_for_an_answer(
    server: RunningServer, tiny_path: Path, table: NDArray[np.float32], tmp_path: Path
) -> None:
    patience = {"probe": 0.3, "quiet": 120}
    with (
        SilentProxy(server.port) as proxy,
        node_client(server, table, tmp_path, proxy.url, "auto", patience=patience) as client,
    ):
        client.extend([1, 2, 3])
        proxy.fall_silent()
        client.ask(wake=True)
        began = time.monotonic()
        assert_true(tiny_path, client.extend([1, 2, 3, 4]), [1, 2, 3, 4])
        assert time.monotonic() - began < patience["quiet"] / 2
        assert client.ask(state=True)["sessions"] == 1


@pytest.mark.parametrize("mode", ["websocket", "http"])
def test_a_step_that_is_asked_for_again_while_it_runs_runs_once(
    server: RunningServer,
    tiny_path: Path,
    table: NDArray[np.float32],
    tmp_path: Path,
    mode: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer = server.parts.framed.handle

    async def late(principal: str, frame: bytes) -> Answer:
        given = await answer(principal, frame)
        await asyncio.sleep(0.05)
        return given

    monkeypatch.setattr(server.parts.framed, "handle", late)
    tokens = [int(token) for token in np.random.default_rng(4).integers(0, len(table), 200)]
    # Of single rows, every answer is late by that.
    patience = {"quiet": 0.001}
    with node_client(server, table, tmp_path, server.url, mode, patience=patience) as client:
        for length in (100, 150, *range(151, 155), 200):
            assert_true(tiny_path, client.extend(tokens[:length]), tokens[:length])
        state = client.ask(state=True)
    assert (state["sessions"], state["resends"], state["rowsSent"]) == (1, 0, 200)
    assert len(state["kinds"]) > 4
