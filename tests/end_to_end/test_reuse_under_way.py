"""What is kept, with drafts that were rejected and with prefills of several steps under way.

Real client and server over sockets; the oracle is ``generate`` of the embedded model in float32.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from split_client.api import ChatSession, SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_client.transport.remote import RemoteBackend
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.server_process import RunningServer, running_server

SYSTEM = " ".join(f"Rule {number}: answer briefly and name the rule." for number in range(12))
QUESTIONS = ("What is split inference?", "Say it again, word for word.", "What is a relay?")
TOKENS = 24


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("disk")
    with running_server(
        dtype="float32", kv_disk=folder / "kv", state=folder / "state", kv_audit=0.0
    ) as running:
        yield running


def begun(client: SplitClient, system: str) -> ChatSession:
    chat = client.conversation(system)
    chat.params, chat.max_tokens = SamplingParams(), TOKENS
    return chat


def truth(messages: list[dict[str, Any]]) -> list[int]:
    """What ``generate`` answers."""
    render = oracle.tokenizer(EMBEDDED).apply_chat_template
    ids = list(render(messages, add_generation_prompt=True, return_dict=False))
    return oracle.greedy(EMBEDDED, ids, TOKENS)


def test_a_chat_with_rejected_drafts_that_expired_goes_on_as_generate_does(
    server: RunningServer, tmp_path: Path
) -> None:
    said: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}]
    rejected = restored = 0
    with SplitClient(server.url, cache=tmp_path, drafts=6) as client:
        chat = begun(client, SYSTEM)
        for question in QUESTIONS:
            said.append({"role": "user", "content": question})
            reply = chat.send(question)
            reply.read()
            assert list(reply.token_ids) == truth(said)
            said.append({"role": "assistant", "content": reply.text})
            rejected += reply.stats.drafted - reply.stats.accepted
            restored += reply.stats.prompt_restored
            # Its last step may have ended with rows of a draft that was wrong.
            server.lose_sessions()
    assert rejected > 0
    assert restored > len(SYSTEM) // 8


def test_a_chat_whose_prefill_has_steps_under_way_goes_on_from_what_is_kept(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The parts of a prompt are short, so that several are under way.
    monkeypatch.setattr(RemoteBackend, "max_rows", 48)
    system = f"Under way. {SYSTEM}"
    said: list[dict[str, Any]] = [{"role": "system", "content": system}]
    restored = []
    with SplitClient(server.url, cache=tmp_path, transport="websocket") as client:
        chat = begun(client, system)
        for question in QUESTIONS:
            # What follows what is kept takes several steps as well.
            said.append({"role": "user", "content": f"{question} {SYSTEM}"})
            reply = chat.send(f"{question} {SYSTEM}")
            reply.read()
            assert list(reply.token_ids) == truth(said)
            said.append({"role": "assistant", "content": reply.text})
            restored.append(reply.stats.prompt_restored)
            server.lose_sessions()
    assert restored[0] < 64 < restored[1] < restored[2]


def test_an_edit_of_a_long_prompt_restores_in_the_middle_of_it(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RemoteBackend, "max_rows", 48)
    system = f"Edited. {SYSTEM}"
    with SplitClient(server.url, cache=tmp_path, transport="websocket", drafts=6) as client:
        chat = begun(client, system)
        for question in (f"{SYSTEM} One?", f"{SYSTEM} Two?", f"{SYSTEM} One?"):
            if len(chat.messages) > 1:
                chat.conversation.undo()
            reply = chat.send(question)
            reply.read()
            asked = [
                {"role": "system", "content": system},
                {"role": "user", "content": question},
            ]
            assert list(reply.token_ids) == truth(asked)
            server.lose_sessions()
        assert reply.stats.prompt_restored > 128
