"""What one session computed, the next one neither sends nor computes: real client, real server."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from split_client.api import Reply, SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.server_process import RunningServer, running_server

SYSTEM = " ".join(f"Rule {number}: answer briefly and name the rule." for number in range(12))
QUESTIONS = ("What is split inference?", "What does the relay do?")


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


def asked(client: SplitClient, messages: list[dict[str, str]]) -> Reply:
    reply = client.chat(messages, SamplingParams(), max_tokens=24)
    reply.read()
    return reply


def messages(question: str, system: str = SYSTEM) -> list[dict[str, str]]:
    return [{"role": "system", "content": system}, {"role": "user", "content": question}]


def expected(asked: list[dict[str, str]]) -> list[int]:
    render = oracle.tokenizer(EMBEDDED).apply_chat_template
    ids = list(render(asked, add_generation_prompt=True, return_dict=False))
    return oracle.greedy(EMBEDDED, ids, 24)


def metric(server: RunningServer, name: str) -> float:
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_a_second_chat_sends_only_what_is_new(
    server: RunningServer, tmp_path: Path, transport: Any
) -> None:
    system = f"{transport}. {SYSTEM}"
    with SplitClient(server.url, cache=tmp_path, transport=transport) as client:
        first = asked(client, messages(QUESTIONS[0], system))
    # Another program of the same user.
    with SplitClient(server.url, cache=tmp_path, transport=transport) as client:
        second = asked(client, messages(QUESTIONS[1], system))
    assert first.stats.prompt_restored < 64 <= second.stats.prompt_restored
    assert second.stats.prompt_sent <= second.stats.prompt_tokens - second.stats.prompt_restored
    assert second.token_ids == expected(messages(QUESTIONS[1], system))
    assert first.token_ids == expected(messages(QUESTIONS[0], system))


def test_a_chat_goes_on_after_its_session_expired(server: RunningServer, tmp_path: Path) -> None:
    system = f"Expired. {SYSTEM}"
    with SplitClient(server.url, cache=tmp_path) as client:
        chat = client.conversation(system)
        chat.params, chat.max_tokens = SamplingParams(), 24
        first = chat.send(QUESTIONS[0])
        first.read()
        server.lose_sessions()
        second = chat.send(QUESTIONS[1])
        second.read()
    history = [
        *messages(QUESTIONS[0], system),
        {"role": "assistant", "content": first.text},
        {"role": "user", "content": QUESTIONS[1]},
    ]
    assert second.token_ids == expected(history)
    # All but the end of the template, which the next turn writes differently, and the question.
    assert second.stats.prompt_restored > first.stats.prompt_tokens
    assert second.stats.bytes_up < 0.5 * first.stats.bytes_up


def test_a_parked_session_goes_on_where_it_stood_and_not_at_the_block_before(
    server: RunningServer, tmp_path: Path
) -> None:
    with SplitClient(server.url, cache=tmp_path) as client:
        chat = client.conversation(f"Parked. {SYSTEM}")
        chat.params, chat.max_tokens = SamplingParams(), 24
        stood = []
        for question in QUESTIONS:
            chat.send(question).read()
            stood.append(chat.cached_tokens)
            server.lose_sessions()
        chat.max_tokens = 1
        last = chat.send(f"{QUESTIONS[0]} {QUESTIONS[1]} {SYSTEM}")
        last.read()
    assert stood[-1] % 16
    assert last.stats.prompt_restored == stood[-1]


def test_a_user_who_wants_nothing_kept_leaves_nothing(
    server: RunningServer, tmp_path: Path
) -> None:
    system = f"Unkept. {SYSTEM}"
    for _ in range(2):
        with SplitClient(server.url, cache=tmp_path, server_cache="off") as client:
            reply = asked(client, messages(QUESTIONS[0], system))
            assert reply.stats.prompt_restored == 0
    with SplitClient(server.url, cache=tmp_path) as client:
        assert asked(client, messages(QUESTIONS[0], system)).stats.prompt_restored < 64


def test_another_user_of_the_machine_finds_nothing(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = f"Mine. {SYSTEM}"
    found = []
    for user in ("one", "other"):
        monkeypatch.setenv("SPLIT_DATA", str(tmp_path / user))
        with SplitClient(server.url, cache=tmp_path) as client:
            found.append(asked(client, messages(QUESTIONS[0], system)).stats.prompt_restored)
    assert found == [0, 0]


def test_a_request_of_openais_api_counts_what_another_session_left(server: RunningServer) -> None:
    def cached(question: str, user: str) -> int:
        body = {"messages": messages(question, f"Api. {SYSTEM}"), "max_tokens": 4, "user": user}
        request = urllib.request.Request(
            f"{server.url}/v1/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            usage = json.load(answer)["usage"]
        return int(usage["prompt_tokens_details"]["cached_tokens"])

    assert cached(QUESTIONS[0], "a") < 64
    server.lose_sessions()
    assert cached(QUESTIONS[1], "b") >= 64


def test_what_is_kept_is_counted(server: RunningServer) -> None:
    assert metric(server, 'split_kv_positions_total{source="pool_asked"}') > 0
    states = [
        metric(server, f'split_kv_runs{{state="{state}",tier="memory"}}')
        for state in ("read", "pinned", "followed", "idle")
    ]
    assert sum(states) > 0
    assert states[-1] > 0
    with urllib.request.urlopen(f"{server.url}/api/v1/memory", timeout=30) as answer:
        kept = json.load(answer)["kept"]
    assert kept["runs"] > 0
    assert kept["bytes"] > 0
