"""An edit inside a prompt: client and server keep what lies behind it, say so, and fall back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from split_client.api import SplitClient
from split_client.generation.sampling.params import SamplingParams
from tests.end_to_end.test_kept_between_sessions import QUESTIONS, expected, messages
from tests.server_process import RunningServer, running_server

LINES = [f"Line {number} says that the number is {number * 7}." for number in range(24)]
SYSTEM = "\n".join(LINES)
EDITED = "\n".join([*LINES[:2], "Line 2 is another one now.", *LINES[3:]])


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(kv_approximate="on", kv_audit=0.0) as running:
        yield running


def edited(server: RunningServer, cache: Path, **options: Any) -> tuple[Any, Any]:
    """A reply to a chat, and one to the same with another line in its system message."""
    with SplitClient(server.url, cache=cache, **options) as client:
        chat = client.conversation(SYSTEM)
        chat.params, chat.max_tokens = SamplingParams(), 24
        first = chat.send(QUESTIONS[0])
        first.read()
        chat.conversation.set_system(EDITED)
        chat.conversation.undo()
        second = chat.send(QUESTIONS[1])
        second.read()
        second.verified = chat.verified
        return first, second


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_what_lies_behind_an_edited_line_is_moved_and_said_to_be(
    server: RunningServer, tmp_path: Path, transport: str
) -> None:
    first, second = edited(server, tmp_path, transport=transport, server_cache="approximate")
    assert first.stats.prompt_tiers.total == 0
    stats = second.stats
    assert stats.prompt_moved > 200
    assert stats.prompt_tiers.approximate == stats.prompt_moved
    assert stats.prompt_sent + stats.prompt_held == stats.prompt_tokens
    assert stats.prompt_mended < stats.prompt_sent < 0.5 * stats.prompt_tokens


def test_without_being_asked_nothing_moves_and_tokens_are_those_of_generate(
    server: RunningServer, tmp_path: Path
) -> None:
    for options in ({}, {"server_cache": "int8"}):
        _, second = edited(server, tmp_path, **options)
        assert second.stats.prompt_moved == 0
        assert second.stats.prompt_tiers.total == 0
        assert second.token_ids == expected(messages(QUESTIONS[1], EDITED))


def test_a_reply_is_computed_plainly_as_well_where_that_is_asked_for(
    server: RunningServer, tmp_path: Path
) -> None:
    options = {"server_cache": "approximate", "verify": "full"}
    first, second = edited(server, tmp_path, **options)
    assert second.verified.passed
    assert second.verified.tokens == second.stats.tokens
    _, unasked = edited(server, tmp_path, server_cache="approximate", verify_share=0.0)
    assert unasked.verified is None
    assert first.stats.prompt_moved == 0 < unasked.stats.prompt_moved


def test_with_a_blend_a_share_of_what_was_kept_is_computed_anew_and_all_rows_travel(
    server: RunningServer, tmp_path: Path
) -> None:
    splicing = server.parts.steps.splicing
    assert splicing is not None
    before = splicing.positions.copy()
    options = {"server_cache": "approximate", "blend": 0.2, "verify": "full"}
    _, second = edited(server, tmp_path, **options)
    told = splicing.positions - before
    assert told["blended"] == math.ceil(0.2 * (told["blended"] + told["moved"])) > 50
    stats = second.stats
    assert stats.prompt_tiers.approximate == stats.prompt_moved == told["moved"]
    assert stats.prompt_mended == told["blended"] + told["computed"]
    assert second.verified.passed
    with pytest.raises(ValueError, match="blend"):
        SplitClient(server.url, cache=tmp_path, blend=0.6)
