"""Documents in the prompts of text APIs: taken where that was allowed and asked for, and told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import chat, post

SYSTEMS = ("Answer in one word.", "You are a clerk who reads files and tells what they say.")
QUESTIONS = ("What does the second line say?", "Who is in it, and where?")


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(kv_approximate="on", kv_audit=1.0) as running:
        yield running


def book(name: str) -> str:
    """Paragraphs that nobody else has."""
    return "\n\n".join(
        " ".join(f"{name} {line} of {part} is {7 * line + part}." for line in range(14))
        for part in range(4)
    )


def asked(name: str, number: int, **others: Any) -> dict[str, Any]:
    """A chat about the book of that name, one part of the user's message."""
    texts = ({"type": "text", "text": text} for text in (book(name), QUESTIONS[number]))
    messages = [
        {"role": "system", "content": SYSTEMS[number]},
        {"role": "user", "content": [*texts]},
    ]
    return {"messages": messages, "max_tokens": 4, "temperature": 0} | others


def details(server: RunningServer, request: dict[str, Any]) -> dict[str, int]:
    found: dict[str, int] = chat(server, **request)["usage"]["prompt_tokens_details"]
    return found


def test_a_part_behind_another_system_prompt_is_taken_and_counted(server: RunningServer) -> None:
    splicing = server.parts.steps.splicing
    assert splicing is not None
    first = details(server, asked("Ann", 0, cache="approximate"))
    assert "approximate_tokens" not in first
    before = splicing.positions["documents"]
    told = details(server, asked("Ann", 1, cache="approximate"))
    assert told["approximate_tokens"] == splicing.positions["documents"] - before > 200


def test_exact_requests_find_nothing_of_it(server: RunningServer) -> None:
    details(server, asked("Ben", 0, cache="approximate"))
    plain = chat(server, **asked("Ben", 1, cache="off"))
    for cache in ("exact", "int8"):
        answer = chat(server, **asked("Ben", 1, cache=cache))
        assert "approximate_tokens" not in answer["usage"]["prompt_tokens_details"]
        assert answer["choices"] == plain["choices"]


def test_replies_on_it_are_audited_as_a_kind_of_their_own(server: RunningServer) -> None:
    audit = server.parts.steps.splicing.audit  # type: ignore[union-attr]
    for number in (0, 1):
        chat(server, **asked("Cid", number, cache="approximate"))
    # The next request waits for the sequence that is audited no longer than any other.
    while not audit.counts["documents", "passed"] + audit.counts["documents", "failed"]:
        chat(server, **asked("Dot", 0))
    assert audit.counts["documents", "failed"] == 0
    assert not audit.counts["moved", "failed"]


def test_deleting_what_is_kept_deletes_it(server: RunningServer) -> None:
    details(server, asked("Eva", 0, cache="approximate", cache_salt="eva"))
    with server.client() as client:
        answer = client.request("DELETE", "/api/v1/cache", json={"cache_salt": "eva"})
    assert answer.json()["runs"] > 0
    told = details(server, asked("Eva", 1, cache="approximate", cache_salt="eva"))
    assert "approximate_tokens" not in told


def test_paragraphs_of_plain_prompts_are_taken_as_well(server: RunningServer) -> None:
    for system in SYSTEMS:
        values = {"prompt": f"{system}\n\n{book('Fay')}\n\nAnd so?", "max_length": 4}
        told = post(server, "/api/v1/generate", **values, temperature=0, cache="approximate").json()
    assert told["approximate_tokens"] > 200
