"""Edits inside the prompts of text APIs: moved where that was allowed and asked for, and told."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from socket import create_connection
from typing import Any

import pytest

from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import CHAT, chat, completion, post

LINES = [f"Line {number} says that the number is {number * 7}." for number in range(24)]
QUESTION = "What does the next line say?"


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(kv_approximate="on", kv_audit=0.0) as running:
        yield running


def asked(line: str, **others: Any) -> dict[str, Any]:
    """A chat about lines, of which the third is ``line``."""
    system = "\n".join([*LINES[:2], line, *LINES[3:]])
    messages = [{"role": "system", "content": system}, {"role": "user", "content": QUESTION}]
    return {"messages": messages, "max_tokens": 6, "temperature": 0} | others


def edited(server: RunningServer, name: str, **others: Any) -> tuple[dict[str, int], str]:
    """What is told of the prompt whose line has changed, and the reply."""
    for line in (f"{name}.", f"{name} is another line by now."):
        answer = chat(server, **asked(line, **others))
    details: dict[str, int] = answer["usage"]["prompt_tokens_details"]
    return details, answer["choices"][0]["message"]["content"]


def leave(server: RunningServer, values: dict[str, Any]) -> None:
    """Send a request and be gone at once."""
    body = json.dumps(values | {"model": "gatelink"}).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as raw:
        raw.sendall(head.encode() + body)


def positions(server: RunningServer) -> dict[str, int]:
    splicing = server.parts.steps.splicing
    assert splicing is not None
    return dict(splicing.positions)


def test_what_lies_behind_an_edited_line_is_moved_and_counted(server: RunningServer) -> None:
    before = positions(server)
    details, _ = edited(server, "Ann", cache="approximate")
    moved = positions(server)["moved"] - before["moved"]
    assert details["approximate_tokens"] == moved > 200
    assert details["cached_tokens"] > moved
    # The line, and what comes right behind it.
    assert 8 < positions(server)["computed"] - before["computed"] < 40


def test_without_being_asked_nothing_moves_and_replies_are_the_plain_ones(
    server: RunningServer,
) -> None:
    before = positions(server)
    plain = chat(server, **asked("Ben is another line by now.", cache="off"))
    for others in ({}, {"cache": "exact"}, {"cache": "int8"}):
        details, text = edited(server, "Ben", **others)
        assert "approximate_tokens" not in details
        assert text == plain["choices"][0]["message"]["content"]
    assert positions(server) == before


def test_a_server_that_does_not_allow_it_moves_nothing() -> None:
    with running_server(kv_audit=0.0) as plain:
        details, _ = edited(plain, "Cid", cache="approximate")
        assert "approximate_tokens" not in details


def test_a_later_turn_says_it_as_well_and_an_exact_request_beside_it_finds_nothing_of_it(
    server: RunningServer,
) -> None:
    edited(server, "Dot", cache="approximate")
    request = asked("Dot is another line by now.", cache="approximate")
    request["messages"] += [
        {"role": "assistant", "content": "It says so."},
        {"role": "user", "content": "Does it?"},
    ]
    details = chat(server, **request)["usage"]["prompt_tokens_details"]
    assert details["approximate_tokens"] > 200
    exact = chat(server, **request | {"cache": "exact"})
    plain = chat(server, **request | {"cache": "off"})
    assert "approximate_tokens" not in exact["usage"]["prompt_tokens_details"]
    assert exact["choices"] == plain["choices"]


def test_completions_and_kobold_have_it_as_well(server: RunningServer) -> None:
    texts = ["\n".join([*LINES[:2], line, *LINES[3:]]) for line in ("Eva.", "Eva is another one.")]
    for text in texts:
        answer = completion(server, prompt=text, max_tokens=4, temperature=0, cache="approximate")
    assert answer["usage"]["prompt_tokens_details"]["approximate_tokens"] > 200
    for text in texts:
        values = {"prompt": f"Kobold. {text}", "max_length": 4, "temperature": 0}
        told = post(server, "/api/v1/generate", **values, cache="approximate").json()
    assert told["approximate_tokens"] > 200


def test_another_chat_leaves_the_sequence_of_the_first_alone(server: RunningServer) -> None:
    chat(server, **asked("Fay.", cache="approximate"))
    other = {"messages": [{"role": "user", "content": "What is the sea? " * 40}]}
    found = chat(server, **other, max_tokens=2, cache="approximate")
    assert "approximate_tokens" not in found["usage"]["prompt_tokens_details"]
    details = chat(server, **asked("Fay is edited.", cache="approximate"))["usage"]
    assert details["prompt_tokens_details"]["approximate_tokens"] > 200


def test_a_request_that_is_cancelled_within_an_edit_leaves_the_server_sound(
    server: RunningServer,
) -> None:
    for line in ("Gus.", "Gus is edited."):
        leave(server, asked(line, cache="approximate", stream=True, max_tokens=64))
    details, text = edited(server, "Gus", cache="approximate")
    assert details["cached_tokens"] > 200
    assert text
    plain = chat(server, **asked("Gus is plain.", cache="off"))
    assert chat(server, **asked("Gus is plain."))["choices"] == plain["choices"]


def test_with_a_blend_of_the_operators_a_share_of_what_is_kept_is_computed_anew() -> None:
    with running_server(kv_approximate="on", kv_audit=0.0, blend=0.2) as server:
        details, text = edited(server, "Hal", cache="approximate")
        found = positions(server)
        kept = found["moved"] + found["blended"]
        assert found["blended"] == math.ceil(0.2 * kept)
        assert details["approximate_tokens"] == found["moved"] > 200
        assert text
        for _ in range(3):
            leave(server, asked("Ida.", cache="approximate", stream=True, max_tokens=64))
        plain = chat(server, **asked("Jo.", cache="off"))
        assert chat(server, **asked("Jo."))["choices"] == plain["choices"]
