"""A chat that takes int8 says what it stands on, and nobody else finds it: client and server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from split_client.api import SplitClient
from tests.end_to_end.test_kept_between_sessions import QUESTIONS, SYSTEM, asked, expected, messages
from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    root = tmp_path_factory.mktemp("kept")
    with running_server(kv_pool_dtype="int8", kv_disk=root / "kv", state=root / "state") as running:
        yield running


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_a_second_chat_that_takes_int8_begins_with_it_and_says_so(
    server: RunningServer, tmp_path: Path, transport: str
) -> None:
    system, kept = f"{transport}. {SYSTEM}", {"cache": tmp_path, "server_cache": "int8"}
    with SplitClient(server.url, transport=transport, **kept) as client:  # type: ignore[arg-type]
        first = asked(client, messages(QUESTIONS[0], system))
    with SplitClient(server.url, transport=transport, **kept) as client:  # type: ignore[arg-type]
        second = asked(client, messages(QUESTIONS[1], system))
        again = asked(client, messages(QUESTIONS[1], system))
    with SplitClient(server.url, cache=tmp_path) as client:
        exact = asked(client, messages(QUESTIONS[1], system))
    assert first.token_ids == expected(messages(QUESTIONS[0], system))
    assert first.stats.prompt_tiers.total == 0
    assert second.stats.prompt_restored >= 64
    assert second.stats.prompt_tiers.int8 == second.stats.prompt_restored
    # What the session holds stands on it as well.
    assert again.stats.prompt_tiers.int8 >= second.stats.prompt_tiers.int8
    assert exact.stats.prompt_restored < 64
    assert exact.stats.prompt_tiers.total == 0
    assert exact.token_ids == expected(messages(QUESTIONS[1], system))


def test_it_is_found_on_disk_after_the_memory_lost_it(
    server: RunningServer, tmp_path: Path
) -> None:
    system = f"Disk. {SYSTEM}"
    with SplitClient(server.url, cache=tmp_path, server_cache="int8") as client:
        asked(client, messages(QUESTIONS[0], system))
    reuse = server.parts.steps.reuse
    assert reuse is not None
    asyncio.run_coroutine_threadsafe(reuse.flush([]), server.loop).result(PATIENCE)
    reuse.pool.release(1 << 62)
    with SplitClient(server.url, cache=tmp_path, server_cache="int8") as client:
        second = asked(client, messages(QUESTIONS[1], system))
    assert second.stats.prompt_tiers.int8 == second.stats.prompt_restored >= 64
    assert reuse.taken["disk"] >= 64
