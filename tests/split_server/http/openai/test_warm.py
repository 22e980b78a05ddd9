"""Prompts that are pinned, and prompts that are kept warm for everybody."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from split_client import SplitClient
from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import HELLO, chat, completion, post, refused

SYSTEM = [{"role": "system", "content": "Be brief and kind. " * 40}]
TEXT = "What is split inference? " * 12


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with running_server(kv_audit=0.0) as running:
        yield running


def cached(answer: dict[str, Any]) -> int:
    """Tokens of the prompt that were cached."""
    count: int = answer["usage"]["prompt_tokens_details"]["cached_tokens"]
    return count


def forget_idle(server: RunningServer) -> None:
    """What is found from now on was kept, not left in an idle session."""
    compat = server.parts.compat
    assert compat is not None
    server.loop.call_soon_threadsafe(compat.generator.close)
    server.lose_sessions()


def test_what_is_pinned_stays_while_all_else_makes_room(server: RunningServer) -> None:
    warmed = post(server, "/v1/warm", prompt=TEXT, pin_seconds=600).json()
    assert 0 < warmed["cached_tokens"] - warmed["pinned_tokens"] < 16
    reuse = server.parts.steps.reuse
    assert reuse is not None
    assert reuse.pool.pinned_by("local") > 0
    completion(server, prompt="Something else entirely. " * 12, max_tokens=1)
    forget_idle(server)
    pool, kept = reuse.pool, reuse.pool.pinned_by()
    object.__setattr__(pool.limits, "ttl", 0.0)
    pool.sweep()
    assert pool.held_bytes == kept
    assert cached(completion(server, prompt=TEXT + "It", max_tokens=1)) >= warmed["pinned_tokens"]


def test_a_pin_beyond_the_share_is_refused_before_it_is_computed() -> None:
    with running_server(kv_pool_bytes=1 << 20, kv_pool_bytes_per_principal=100_000) as server:
        error = refused(post(server, "/v1/warm", prompt=TEXT, pin_seconds=60), 413)
        assert error["code"] == "pins_full"
        assert "50000" in error["message"]
        with server.client() as client:
            assert client.get("/v1/stats").json()["generations"]["ended"] == 0


@pytest.mark.parametrize("seconds", [-1, 86_401, 1.5, "long"])
def test_a_pin_of_another_length_is_refused(server: RunningServer, seconds: Any) -> None:
    refusal = refused(post(server, "/v1/warm", prompt=TEXT, pin_seconds=seconds), 400)
    assert refusal["param"] == "pin_seconds"


def test_a_salt_divides_what_is_warm(server: RunningServer) -> None:
    post(server, "/v1/warm", prompt=TEXT, cache_salt="mine")
    forget_idle(server)
    again = post(server, "/v1/warm", prompt=TEXT).json()
    assert again["computed_tokens"] == again["cached_tokens"]
    own = post(server, "/v1/warm", prompt=TEXT, cache_salt="mine").json()
    assert own["computed_tokens"] <= 16


def test_where_nothing_is_kept_a_pin_is_refused_and_warming_goes_on() -> None:
    with running_server(kv_reuse="off") as server:
        assert post(server, "/v1/warm", prompt=TEXT).json()["computed_tokens"] > 0
        error = refused(post(server, "/v1/warm", prompt=TEXT, pin_seconds=60), 409)
        assert error["code"] == "nothing_kept"


def warm_file(folder: Path) -> Path:
    path = folder / "warm.jsonl"
    lines: list[dict[str, Any]] = [{"messages": SYSTEM}, {"prompt": TEXT}]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def until_warm(server: RunningServer, prompts: int) -> None:
    """Wait until so many prompts are computed, which happens behind the requests."""
    warm = server.parts.warm
    assert warm is not None
    deadline = time.monotonic() + PATIENCE
    while len(warm._held) < prompts:
        assert time.monotonic() < deadline
        with server.client() as client:
            client.get("/v1/models")


def test_what_the_file_names_is_warm_for_every_principal_and_every_device(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("ann a-token-of-enough-length\nbob b-token-of-enough-length\n")
    tokens.chmod(0o600)
    asked: dict[str, Any] = {"messages": SYSTEM + HELLO, "temperature": 0, "max_tokens": 8}
    with running_server(kv_reuse="off") as cold:
        expected = chat(cold, **asked)["choices"][0]["message"]
    with (
        caplog.at_level("INFO"),
        running_server(kv_warm=warm_file(tmp_path), token_file=tokens) as server,
    ):
        until_warm(server, 2)
        for name in ("a", "b"):
            headers = {"Authorization": f"Bearer {name}-token-of-enough-length"}
            with server.client(headers=headers) as client:
                answer = client.post("/v1/chat/completions", json=asked).json()
            assert cached(answer) > 150
            assert answer["choices"][0]["message"] == expected
        with SplitClient(server.url, token="a-token-of-enough-length") as device:
            reply = device.chat(SYSTEM + HELLO, temperature=0, max_tokens=8)
            assert reply.text == expected["content"]
            assert reply.stats.prompt_restored > 150
    assert "2 of 2 prompts are kept warm for everybody" in caplog.text
    assert "brief" not in caplog.text


def test_what_made_way_is_computed_again(tmp_path: Path) -> None:
    with running_server(kv_warm=warm_file(tmp_path), kv_audit=0.0) as server:
        until_warm(server, 2)
        reuse, warm = server.parts.steps.reuse, server.parts.warm
        assert reuse is not None
        assert warm is not None
        reuse.pool.release(reuse.pool.held_bytes)
        assert not len(reuse.pool)
        asyncio.run_coroutine_threadsafe(warm.keep(), server.loop).result(PATIENCE)
        assert reuse.pool.pinned_by() > 0
        assert cached(completion(server, prompt=TEXT + "It", max_tokens=1)) > 16
