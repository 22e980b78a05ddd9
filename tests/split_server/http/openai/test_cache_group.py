"""Requests that bring text and share the beginning of their prompts with a group."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.server_process import RunningServer, running_server

TEXT = "What is split inference? " * 12
ALL = 2**53 - 1
TOKENS = {name: f"{name}-token-that-is-long-enough" for name in ("phone", "laptop", "guest")}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    tokens: Path = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text("".join(f"{name} {token}\n" for name, token in TOKENS.items()))
    tokens.chmod(0o600)
    groups = ("mine=phone+laptop",)
    with running_server(token_file=tokens, kv_groups=groups, kv_audit=0.0) as running:
        yield running


def post(server: RunningServer, name: str, path: str, **values: Any) -> httpx.Response:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        headers = {"Authorization": f"Bearer {TOKENS[name]}"}
        return client.post(path, json=values, headers=headers)


def cached(server: RunningServer, name: str, text: str, **values: Any) -> int:
    """Tokens of the prompt that were cached."""
    answer = post(server, name, "/v1/completions", prompt=text, max_tokens=1, **values)
    assert answer.status_code == 200, answer.text
    server.lose_sessions()
    count: int = answer.json()["usage"]["prompt_tokens_details"]["cached_tokens"]
    return count


def test_a_member_finds_what_another_one_shared(server: RunningServer) -> None:
    shared = {"cache_group": "mine", "share_until": ALL}
    assert cached(server, "phone", TEXT, **shared) == 0
    assert cached(server, "laptop", TEXT) == 0
    assert cached(server, "laptop", TEXT, **shared) >= 16


def test_no_more_is_found_than_is_shared(server: RunningServer) -> None:
    shared = {"cache_group": "mine", "share_until": 170}
    assert cached(server, "phone", f"First. {3 * TEXT}", **shared) == 0
    assert cached(server, "laptop", f"First. {3 * TEXT}", **shared) == 160


def test_kobolds_bodies_have_the_same_fields(server: RunningServer) -> None:
    text = f"Kobold. {TEXT}"
    shared = {"cache_group": "mine", "share_until": ALL}
    answer = post(server, "phone", "/api/v1/generate", prompt=text, max_length=1, **shared)
    assert answer.status_code == 200, answer.text
    server.lose_sessions()
    assert cached(server, "laptop", text, **shared) >= 16


@pytest.mark.parametrize(
    ("path", "length"), [("/v1/completions", "max_tokens"), ("/api/v1/generate", "max_length")]
)
@pytest.mark.parametrize(("name", "group"), [("guest", "mine"), ("phone", "none of that name")])
def test_who_is_no_member_is_told_so_and_nothing_runs(
    server: RunningServer, path: str, length: str, name: str, group: str
) -> None:
    answer = post(server, name, path, prompt=TEXT, cache_group=group, share_until=16, **{length: 1})
    assert answer.status_code == 404, answer.text
    assert "cache group" in answer.text


@pytest.mark.parametrize("until", [-1, 2**53, "16", 1.5])
def test_positions_are_whole_numbers(server: RunningServer, until: Any) -> None:
    answer = post(
        server, "phone", "/v1/completions", prompt=TEXT, cache_group="mine", share_until=until
    )
    assert answer.status_code in (400, 422), answer.text
    assert "share_until" in answer.text
