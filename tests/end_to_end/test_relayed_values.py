"""Where a reply depends on what an edit changed through text that was moved, it is wrong, and that
is seen: told as approximate, caught by verifying it, and given up after three times.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from scripts.bench.splice import relay
from split_client.api import SamplingParams, SplitClient
from split_client.generation.sequence import Sequence
from tests import oracle
from tests.checkpoints import tiny_tokenizer
from tests.server_process import RunningServer, running_server

LENGTH, OLD, NEW = 200, 1, 4


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("relay") / "relay"
    tiny_tokenizer(path)
    return relay.write_checkpoint(path, AutoTokenizer.from_pretrained(path))


@pytest.fixture(scope="module")
def server(toy: Path) -> Iterator[RunningServer]:
    with running_server(toy, kv_approximate="on", kv_audit=0.0) as running:
        yield running


def edited(client: SplitClient, depth: int, seed: int) -> tuple[Sequence, list[int], Any]:
    """A session whose text said another value before, and the reply to the one that it says now."""
    sequence, _ = client._connected().sequence()
    before = relay.relayed(depth, OLD, LENGTH, seed)
    # Two tokens more: what lies behind them moves.
    after = relay.relayed(depth, NEW, LENGTH, seed)
    after[6:6] = [relay.filler(3), relay.filler(4)]
    for ids in (before, after):
        reply = client._maker().reply(sequence, ids, SamplingParams(), 1, ())
        reply.read()
    return sequence, after, reply


@pytest.mark.parametrize("depth", [0, 1, 2, 4])
def test_what_the_plain_computation_says_is_right(toy: Path, depth: int) -> None:
    for seed in range(4):
        text = relay.relayed(depth, NEW, LENGTH, seed)
        assert oracle.greedy(toy, text, 1) == [relay.answer(NEW)]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_every_reply_that_follows_the_old_text_is_told_and_caught(
    server: RunningServer, tmp_path: Path, depth: int
) -> None:
    with SplitClient(server.url, cache=tmp_path, server_cache="approximate") as client:
        verifier = client._verifier()
        assert verifier is not None
        for seed in range(3):
            sequence, ids, reply = edited(client, depth, seed)
            assert reply.token_ids == [relay.answer(OLD)]
            assert reply.stats.prompt_tiers.approximate == reply.stats.prompt_moved > 100
            found = verifier.verified(sequence, [*ids, *reply.token_ids], len(ids))
            assert not found.passed
            assert (found.tokens, found.first) == (1, 0)


def test_a_fact_that_is_read_where_it_was_edited_is_right(
    server: RunningServer, tmp_path: Path
) -> None:
    with SplitClient(server.url, cache=tmp_path, server_cache="approximate") as client:
        verifier = client._verifier()
        assert verifier is not None
        for seed in range(3):
            sequence, ids, reply = edited(client, 0, seed)
            assert reply.token_ids == [relay.answer(NEW)]
            assert reply.stats.prompt_moved > 100
            found = verifier.verified(sequence, [*ids, *reply.token_ids], len(ids))
            assert found.passed
            assert found.first is None


def test_after_three_replies_that_are_too_far_off_nothing_is_moved_any_more(
    server: RunningServer, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"server_cache": "approximate", "verify": "full"}
    with SplitClient(server.url, cache=tmp_path, **options) as client:
        for seed in range(5):
            chat = client.conversation()
            sequence, checks = chat._sequence, chat._checks
            assert checks is not None
            before, after = (relay.relayed(2, value, LENGTH, seed) for value in (OLD, NEW))
            after[6:6] = [relay.filler(3), relay.filler(4)]
            for ids in (before, after):
                reply = client._maker().reply(sequence, ids, SamplingParams(), 1, ())
                reply.read()
            wrong = seed < 3
            assert reply.token_ids == [relay.answer(OLD if wrong else NEW)]
            assert bool(reply.stats.prompt_moved) == wrong
            checks.after(chat.verify, reply.stats, (*after, *reply.token_ids), len(after))
            assert chat.cached_tokens == (0 if wrong else len(after))
        assert (client.verified.failed, client.verified.stopped("moved")) == (3, True)


def test_an_exact_session_beside_them_is_right(server: RunningServer, tmp_path: Path) -> None:
    with SplitClient(server.url, cache=tmp_path) as client:
        _, _, reply = edited(client, 2, 0)
    assert reply.token_ids == [relay.answer(NEW)]
    assert reply.stats.prompt_tiers.total == 0
