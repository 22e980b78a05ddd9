"""Requests that take int8, or want nothing kept, and what their answers say of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import completion, post, refused, stream
from tests.split_server.http.openai.test_verify import verified

TEXT = "What is split inference? " * 12


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(kv_audit=0.0, kv_pool_dtype="int8") as running:
        yield running


def details(server: RunningServer, text: str, cache: str | None) -> dict[str, int]:
    """What the answer says of its prompt, on a session that nobody had before."""
    server.lose_sessions()
    asked = {} if cache is None else {"cache": cache}
    answer = completion(server, prompt=text, max_tokens=2, temperature=0, **asked)
    found: dict[str, int] = answer["usage"]["prompt_tokens_details"]
    return found


def test_who_takes_int8_is_told_how_many_tokens_are_not_exact(server: RunningServer) -> None:
    assert details(server, f"One. {TEXT}", "int8") == {"cached_tokens": 0}
    found = details(server, f"One. {TEXT}", "int8")
    assert found["approximate_tokens"] == found["cached_tokens"] >= 16
    # Who does not take it finds nothing of it.
    assert details(server, f"One. {TEXT}", None) == {"cached_tokens": 0}


def test_a_session_that_goes_on_says_it_as_well(server: RunningServer) -> None:
    asked: dict[str, Any] = {"max_tokens": 2, "temperature": 0, "cache": "int8"}
    text = f"Two. {TEXT}"
    assert details(server, text, "int8") == {"cached_tokens": 0}
    assert details(server, text, "int8")["approximate_tokens"] >= 16
    *_, last = stream(
        server,
        "/v1/completions",
        prompt=f"{text} And",
        **asked,
        stream_options={"include_usage": True},
    )
    found = last["usage"]["prompt_tokens_details"]
    # All of its prompt lies behind rows that were whole numbers.
    assert found["approximate_tokens"] == found["cached_tokens"] >= 16


def test_what_is_exact_is_taken_by_who_would_take_int8(server: RunningServer) -> None:
    assert details(server, f"Three. {TEXT}", "exact") == {"cached_tokens": 0}
    found = details(server, f"Three. {TEXT}", "int8")
    assert found["cached_tokens"] >= 16
    assert "approximate_tokens" not in found


def test_off_keeps_and_finds_nothing_and_leaves_no_sequence(server: RunningServer) -> None:
    assert details(server, f"Four. {TEXT}", "off") == {"cached_tokens": 0}
    again = completion(server, prompt=f"Four. {TEXT}", max_tokens=2, temperature=0, cache="off")
    assert again["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}
    assert details(server, f"Four. {TEXT}", "int8") == {"cached_tokens": 0}


def test_kobold_takes_it_as_well_and_says_it_at_the_end(server: RunningServer) -> None:
    asked = {"prompt": f"Five. {TEXT}", "max_length": 2, "temperature": 0, "cache": "int8"}
    told = []
    for _ in range(2):
        server.lose_sessions()
        told.append(post(server, "/api/v1/generate", **asked).json())
    assert "approximate_tokens" not in told[0]
    assert told[1]["approximate_tokens"] >= 16


@pytest.mark.parametrize(
    ("path", "asked", "usage"),
    [
        ("/v1/messages", {"max_tokens": 2}, ("usage",)),
        ("/v1/responses", {"max_output_tokens": 2}, ("usage", "input_tokens_details")),
        ("/api/chat", {"options": {"num_predict": 2}, "stream": False}, ()),
        ("/api/generate", {"options": {"num_predict": 2}, "stream": False}, ()),
    ],
)
def test_the_other_apis_take_it_and_say_it_with_their_counts(
    server: RunningServer, path: str, asked: dict[str, Any], usage: tuple[str, ...]
) -> None:
    text = f"{path}: {TEXT}"
    said = [{"role": "user", "content": text}]
    given = {"/api/generate": {"prompt": text}, "/v1/responses": {"input": text}}
    body = asked | given.get(path, {"messages": said}) | {"model": "gatelink"}
    told = []
    for cache in ("int8", "int8", "exact", "off"):
        server.lose_sessions()
        found = post(server, path, **body, cache=cache).json()
        for name in usage:
            found = found[name]
        told.append(found.get("approximate_tokens", 0))
    assert told[1] >= 16
    assert (told[0], *told[2:]) == (0, 0, 0)


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/responses", "/api/chat", "/api/generate"])
def test_the_other_apis_refuse_another_word_by_the_name_of_the_field(
    server: RunningServer, path: str
) -> None:
    said = [{"role": "user", "content": "Hello"}]
    given = {"/api/generate": {"prompt": "Hello"}, "/v1/responses": {"input": "Hello"}}
    more = {"max_tokens": 1} if path == "/v1/messages" else {}
    body = given.get(path, {"messages": said}) | more | {"model": "gatelink"}
    answer = post(server, path, **body, cache="nearly")
    told = answer.json()
    named = told["error"] if isinstance(told["error"], dict) else told
    assert (answer.status_code, named["param"]) == (400, "cache")
    assert "exact, int8, approximate, off" in answer.text


@pytest.mark.parametrize("cache", ["nearly", "on", 1, True])
def test_another_word_is_refused_with_those_that_there_are(
    server: RunningServer, cache: object
) -> None:
    error = refused(post(server, "/v1/completions", prompt="Hello", cache=cache), 400)
    assert error["param"] == "cache"
    assert "exact, int8, approximate, off" in error["message"]
    answer = post(server, "/api/v1/generate", prompt="Hello", cache=cache)
    assert answer.status_code == 400
    assert "exact, int8, approximate, off" in json.dumps(answer.json())


def test_metrics_figures_and_the_check_know_the_tier(server: RunningServer) -> None:
    for _ in range(2):
        details(server, f"Six. {TEXT}", "int8")
    with httpx.Client(base_url=server.url, timeout=60) as client:
        metrics = client.get("/metrics").text
        mine = client.get("/api/v1/cache").json()
    values = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if line[:1] != "#")
    assert float(values['split_kv_tier_positions_total{tier="int8"}']) >= 16
    assert float(values['split_kv_tier_bytes{tier="int8"}']) > 0
    assert float(values['split_kv_tier_positions_total{tier="approximate"}']) == 0
    assert mine["tiers"] == ["exact", "int8"]
    found = verified(server, tokens=4)
    assert (found["ok"], found["problems"]) == (True, [])
    for prompt in found["prompts"]:
        *_, way = prompt["ways"]
        assert way["way"] == "int8"
        assert 0 < way["difference"] <= way["bound"] / 2
        assert prompt["tokens"] - 16 <= way["reused"] < prompt["tokens"]


def test_a_server_that_keeps_exact_alone_gives_that(server: RunningServer) -> None:
    with running_server(kv_audit=0.0) as plain:
        assert details(plain, TEXT, "int8") == {"cached_tokens": 0}
        found = details(plain, TEXT, "int8")
        assert found["cached_tokens"] >= 16
        assert "approximate_tokens" not in found
        assert post(plain, "/v1/warm", prompt=TEXT).status_code == 200
