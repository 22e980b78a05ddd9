"""What requests say about keeping, and what answers say of what was kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server
from tests.split_server.http.kobold.client import post as kobold
from tests.split_server.http.openai.calls import (
    CHAT,
    COMPLETIONS,
    HELLO,
    chat,
    completion,
    post,
    refused,
    stream,
)

TEXT = "What is split inference? " * 12
LONG = [{"role": "system", "content": "Be brief. " * 40}, *HELLO]


@pytest.fixture
def server() -> Iterator[RunningServer]:
    # Nothing that is known is computed all the same by chance.
    with running_server(kv_audit=0.0) as running:
        yield running


def cached(usage: dict[str, Any]) -> int:
    """Tokens of the prompt that were cached."""
    count: int = usage["prompt_tokens_details"]["cached_tokens"]
    return count


def written(server: RunningServer) -> int:
    """Files of what is kept, once all of it had its time."""
    server.lose_sessions()
    reuse = server.parts.steps.reuse
    assert reuse is not None
    assert reuse.disk is not None
    asyncio.run_coroutine_threadsafe(reuse.disk.flush(), server.loop).result(PATIENCE)
    return len(reuse.disk.index)


@pytest.mark.parametrize(
    ("path", "values"), [(CHAT, {"messages": LONG}), (COMPLETIONS, {"prompt": TEXT})], ids=str
)
def test_streams_and_whole_answers_tell_what_was_cached(
    server: RunningServer, path: str, values: dict[str, Any]
) -> None:
    asked = values | {"max_tokens": 2, "temperature": 0}
    told = []
    for number in range(3):
        # The last one on a new session, from what is kept of earlier ones.
        if number == 2:
            server.lose_sessions()
        *_, last = stream(server, path, **asked, stream_options={"include_usage": True})
        told.append(last["usage"])
        assert last["choices"] == []
    whole = post(server, path, **asked).json()["usage"]
    length = whole["prompt_tokens"]
    assert cached(told[0]) == 0
    assert cached(told[1]) == cached(whole) == length - 1
    assert length - 17 <= cached(told[2]) < length
    with server.client() as client:
        tokens = client.get("/v1/stats").json()["tokens"]
    assert tokens["cached"] == sum(map(cached, told)) + cached(whole)


def test_a_salt_divides_what_is_found(server: RunningServer) -> None:
    asked: dict[str, Any] = {"prompt": TEXT, "max_tokens": 1}
    assert cached(completion(server, **asked, cache_salt="one")["usage"]) == 0
    assert cached(completion(server, **asked, cache_salt="two")["usage"]) == 0
    assert cached(completion(server, **asked)["usage"]) == 0
    assert cached(completion(server, **asked, cache_salt="one")["usage"]) > 0
    server.lose_sessions()
    assert cached(completion(server, **asked, cache_salt="two")["usage"]) > 0
    assert cached(completion(server, **asked, cache_salt="three")["usage"]) == 0
    assert cached(chat(server, messages=LONG, max_tokens=1, cache_salt="one")["usage"]) == 0


def test_a_salt_of_a_kobold_request_divides_what_is_found(server: RunningServer) -> None:
    def found() -> int:
        with server.client() as client:
            count: int = client.get("/v1/stats").json()["tokens"]["cached"]
        return count

    for salt in ("one", "two", None):
        kobold(server, "/api/v1/generate", prompt=TEXT, max_length=1, cache_salt=salt)
    assert found() == 0
    kobold(server, "/api/v1/generate", prompt=TEXT, max_length=1, cache_salt="one")
    assert found() > 0


def test_what_is_for_memory_alone_is_never_written(tmp_path: Path) -> None:
    with running_server(kv_disk=tmp_path / "kv", state=tmp_path / "state") as server:
        for word in ("in_memory", "in-memory"):
            asked: dict[str, Any] = {"prompt": f"{word} {TEXT}", "prompt_cache_retention": word}
            completion(server, **asked, max_tokens=1)
            assert written(server) == 0
            again = completion(server, **asked, max_tokens=1)
            assert cached(again["usage"]) > 0
        # Not even where a sequence that is idle holds what a later request goes on with.
        completion(server, prompt=f"24h {TEXT}", max_tokens=1)
        before = written(server)
        assert before > 0
        longer = f"24h {TEXT * 2}"
        completion(server, prompt=longer, max_tokens=1, prompt_cache_retention="in_memory")
        assert written(server) == before
        asked = {"prompt": f"other {TEXT}", "prompt_cache_retention": "24h"}
        completion(server, **asked, prompt_cache_key="any", max_tokens=1)
        assert written(server) > before


@pytest.mark.parametrize("tokens", [1, 20])
def test_what_was_for_memory_alone_is_written_once_the_same_prompt_may_be(
    tmp_path: Path, tokens: int
) -> None:
    folders: dict[str, Any] = {"kv_disk": tmp_path / "kv", "state": tmp_path / "state"}
    asked: dict[str, Any] = {"prompt": TEXT, "temperature": 0}
    with running_server(**folders, kv_audit=0.0) as server:
        # A longer reply stands behind the prompt in memory than the second one has.
        completion(
            server, **asked, max_tokens=tokens, prompt_cache_retention="in_memory", ignore_eos=True
        )
        assert written(server) == 0
        again = completion(server, **asked, max_tokens=1, prompt_cache_retention="24h")
        assert cached(again["usage"]) > 0
        assert written(server) > 0
    with running_server(**folders, kv_audit=0.0) as server:
        reuse = server.parts.steps.reuse
        assert reuse is not None
        assert reuse.disk is not None
        assert reuse.disk.index.ready.wait(PATIENCE)
        found = completion(server, **asked, max_tokens=1)["usage"]
        assert cached(found) >= found["prompt_tokens"] - 17
        # The reply that was for memory alone is in no file.
        longest = max(e.header.end for e in reuse.disk.index.entries() if e.header)
        assert longest <= found["prompt_tokens"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cache_salt", 5),
        ("cache_salt", "s" * 257),
        ("prompt_cache_retention", "48h"),
        ("prompt_cache_retention", 24),
        ("prompt_cache_key", 7),
    ],
)
def test_what_is_of_another_type_is_refused(server: RunningServer, name: str, value: Any) -> None:
    answer = post(server, COMPLETIONS, prompt="Hello", **{name: value})
    assert refused(answer, 400)["param"] == name
