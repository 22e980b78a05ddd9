"""Documents that the server knows from other chats: taken, said to be, verified, and forgotten."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from split_client.api import SplitClient
from split_client.chat.reply import Reply
from split_client.generation.sampling.params import SamplingParams
from tests.end_to_end.test_kept_between_sessions import QUESTIONS, expected, messages
from tests.server_process import RunningServer, running_server

BOOK = "\n\n".join(
    "\n".join(f"Line {line} of part {part} says that it is {7 * line + part}." for line in range(8))
    for part in range(5)
)
SYSTEMS = ("Answer in one word.", "You are a clerk who reads files and tells what they say.")


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(kv_approximate="on", kv_audit=0.0) as running:
        yield running


def asked(client: SplitClient, system: str, question: str, book: str = BOOK) -> tuple[Any, Reply]:
    """A new chat about the ``book``, and its reply."""
    chat = client.conversation(system)
    chat.params, chat.max_tokens = SamplingParams(), 16
    reply = chat.send(question, documents=[book])
    reply.read()
    return chat, reply


def connected(server: RunningServer, cache: Path, **options: Any) -> SplitClient:
    return SplitClient(server.url, cache=cache, **{"server_cache": "approximate"} | options)


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_a_document_behind_another_system_prompt_is_not_computed_again(
    server: RunningServer, tmp_path: Path, transport: str
) -> None:
    book = BOOK.replace("part", transport)
    with connected(server, tmp_path, transport=transport) as client:
        _, first = asked(client, SYSTEMS[0], QUESTIONS[0], book)
        _, second = asked(client, SYSTEMS[1], QUESTIONS[1], book)
    assert first.stats.prompt_tiers.total == first.stats.prompt_documents == 0
    stats = second.stats
    assert stats.prompt_documents == stats.prompt_moved == stats.prompt_tiers.approximate > 400
    assert stats.prompt_sent + stats.prompt_held == stats.prompt_tokens
    assert stats.prompt_mended <= stats.prompt_sent < 0.5 * stats.prompt_tokens


def test_exact_chats_find_none_of_it_and_their_tokens_are_those_of_generate(
    server: RunningServer, tmp_path: Path
) -> None:
    with connected(server, tmp_path) as client:
        asked(client, SYSTEMS[0], QUESTIONS[0])
    for options in ({}, {"server_cache": "int8"}, {"server_cache": "off"}):
        with SplitClient(server.url, cache=tmp_path, **options) as client:
            _, reply = asked(client, SYSTEMS[1], QUESTIONS[1])
        assert reply.stats.prompt_moved == reply.stats.prompt_tiers.total == 0
        said = f"{BOOK}\n\n{QUESTIONS[1]}"
        assert reply.token_ids == expected(messages(said, SYSTEMS[1]))[: len(reply.token_ids)]


def test_an_insertion_in_a_document_leaves_its_other_parts_known(
    server: RunningServer, tmp_path: Path
) -> None:
    parts = BOOK.replace("says", "tells").split("\n\n")
    longer = "\n\n".join([*parts[:2], "Here comes another part. " * 30, *parts[2:]])
    with connected(server, tmp_path) as client:
        asked(client, SYSTEMS[0], QUESTIONS[0], "\n\n".join(parts))
        _, second = asked(client, SYSTEMS[1], QUESTIONS[1], longer)
    assert second.stats.prompt_documents > 400


def test_a_reply_on_documents_is_computed_plainly_as_well(
    server: RunningServer, tmp_path: Path
) -> None:
    book = BOOK.replace("Line", "Rule")
    with connected(server, tmp_path, verify="full") as client:
        asked(client, SYSTEMS[0], QUESTIONS[0], book)
        chat, second = asked(client, SYSTEMS[1], QUESTIONS[1], book)
        assert second.stats.prompt_documents > 400
        assert chat.verified.tokens == second.stats.tokens
        assert chat.verified.passed


def test_with_a_blend_a_share_of_a_document_is_computed_anew(
    server: RunningServer, tmp_path: Path
) -> None:
    splicing = server.parts.steps.splicing
    assert splicing is not None
    book = BOOK.replace("Line", "Item")
    with connected(server, tmp_path, blend=0.2, verify="full") as client:
        asked(client, SYSTEMS[0], QUESTIONS[0], book)
        before = splicing.positions.copy()
        chat, second = asked(client, SYSTEMS[1], QUESTIONS[1], book)
        told, stats = splicing.positions - before, second.stats
        known = told["documents"] + told["blended"]
        assert math.ceil(0.2 * known) <= told["blended"] < 0.2 * known + 4
        assert stats.prompt_documents == told["documents"] > 300
        assert chat.verified.passed


def test_a_chat_that_is_forgotten_takes_its_documents_along(
    server: RunningServer, tmp_path: Path
) -> None:
    book = BOOK.replace("Line", "Row")
    with connected(server, tmp_path) as client:
        first, _ = asked(client, SYSTEMS[0], QUESTIONS[0], book)
        second, reply = asked(client, SYSTEMS[1], QUESTIONS[1], book)
        assert reply.stats.prompt_documents > 400
        first.close()
        second.forget()
        first.forget()
        _, third = asked(client, SYSTEMS[0] + " Be kind.", QUESTIONS[1], book)
        assert third.stats.prompt_documents == 0


def test_a_saved_chat_that_is_forgotten_takes_its_documents_along(
    server: RunningServer, tmp_path: Path
) -> None:
    book = BOOK.replace("Line", "Page")
    with connected(server, tmp_path) as client:
        first, _ = asked(client, SYSTEMS[0], QUESTIONS[0], book)
        said = [{"role": one.role, "content": one.content} for one in first.messages]
    with connected(server, tmp_path) as client:
        client.forget(said)
        _, second = asked(client, SYSTEMS[1], QUESTIONS[1], book)
        assert second.stats.prompt_documents == 0


def test_another_user_finds_none_of_it(server: RunningServer, tmp_path: Path) -> None:
    book = BOOK.replace("Line", "Verse")
    with connected(server, tmp_path / "one") as client:
        asked(client, SYSTEMS[0], QUESTIONS[0], book)
    with connected(server, tmp_path / "other") as client:
        client._connected()._sessions.salt = "another user"
        _, reply = asked(client, SYSTEMS[1], QUESTIONS[1], book)
    assert reply.stats.prompt_documents == 0
