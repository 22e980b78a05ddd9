"""Anthropic's API over a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests import patience
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import chat

MESSAGES = "/v1/messages"
COUNT = "/v1/messages/count_tokens"
TOKEN = "a-token-of-the-test"
ORIGIN = "https://chat.example.org"
HELLO = [{"role": "user", "content": "What is split inference?"}]
ASKED: dict[str, Any] = {"model": "gatelink", "messages": HELLO, "max_tokens": 24, "temperature": 0}
TOOL = {"name": "f", "input_schema": {"type": "object", "properties": {"a": {"type": "boolean"}}}}


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def guarded() -> Iterator[RunningServer]:
    with running_server(token=TOKEN, allow_origin=(ORIGIN,)) as running:
        yield running


def post(server: RunningServer, path: str = MESSAGES, **values: Any) -> httpx.Response:
    with server.client() as client:
        return client.post(path, json=ASKED | values)


def events(text: str) -> list[dict[str, Any]]:
    """The events of a stream, each of which is named as its document says."""
    *blocks, end = text.split("\n\n")
    assert end == ""
    found = []
    for block in blocks:
        name, data = block.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


def refused(answer: httpx.Response, status: int, kind: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert (body["type"], body["error"]["type"]) == ("error", kind)
    error: dict[str, Any] = body["error"]
    return error


def test_a_reply_is_that_of_a_chat(server: RunningServer) -> None:
    answer = post(server).json()
    (choice,) = chat(server, messages=HELLO, max_tokens=24, temperature=0)["choices"]
    assert answer["content"] == [{"type": "text", "text": choice["message"]["content"]}]
    assert answer["model"] == "gatelink-demo"
    assert (
        answer["stop_reason"]
        == {"length": "max_tokens", "stop": "end_turn"}[choice["finish_reason"]]
    )


def test_a_stream_tells_the_same_as_the_whole_answer(server: RunningServer) -> None:
    whole = post(server).json()
    answer = post(server, stream=True)
    assert answer.headers["content-type"] == "text/event-stream"
    found = events(answer.text)
    texts = [e["delta"]["text"] for e in found if e["type"] == "content_block_delta"]
    assert "".join(texts) == whole["content"][0]["text"]
    assert found[-2]["delta"]["stop_reason"] == whole["stop_reason"]
    assert found[-2]["usage"]["output_tokens"] == whole["usage"]["output_tokens"]
    assert found[-1] == {"type": "message_stop"}


def test_a_stop_sequence_is_told(server: RunningServer) -> None:
    answer = post(server, stop_sequences=["nowhere", " divides"]).json()
    assert answer["content"][0]["text"] == "Split inference"
    assert (answer["stop_reason"], answer["stop_sequence"]) == ("stop_sequence", " divides")


@pytest.mark.parametrize("streamed", [False, True])
def test_any_model_can_be_made_to_call(server: RunningServer, streamed: bool) -> None:
    answer = post(server, tools=[TOOL], tool_choice={"type": "any"}, stream=streamed, max_tokens=64)
    if not streamed:
        (block,) = answer.json()["content"]
        assert (block["type"], block["name"]) == ("tool_use", "f")
        return
    found = events(answer.text)
    (start,) = [e for e in found if e["type"] == "content_block_start"]
    (delta,) = [e["delta"] for e in found if e["type"] == "content_block_delta"]
    assert start["content_block"]["name"] == "f"
    assert isinstance(json.loads(delta["partial_json"]), dict)


def test_a_format_is_kept_to(server: RunningServer) -> None:
    schema = {
        "type": "object",
        "properties": {"yes": {"type": "boolean"}},
        "required": ["yes"],
        "additionalProperties": False,
    }
    form = {"format": {"type": "json_schema", "schema": schema}}
    text = post(server, output_config=form).json()["content"][0]["text"]
    assert isinstance(json.loads(text)["yes"], bool)
    form["format"]["schema"] = {"not": {}}
    error = refused(post(server, output_config=form), 400, "invalid_request_error")
    assert (error["code"], error["param"]) == ("invalid_schema", "output_config.format.schema")


def test_counting_tells_what_a_message_would_have(server: RunningServer) -> None:
    usage = post(server).json()["usage"]
    asked = {"messages": HELLO, "system": None}
    with server.client() as client:
        counted = client.post(COUNT, json=asked).json()
        longer = client.post(COUNT, json=asked | {"system": "Be brief."}).json()
    assert counted["input_tokens"] == usage["input_tokens"] + usage["cache_read_input_tokens"]
    assert longer["input_tokens"] > counted["input_tokens"]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("values", "status", "kind", "code"),
    [
        ({"model": "other"}, 404, "not_found_error", "model_not_found"),
        ({"max_tokens": 0}, 400, "invalid_request_error", "invalid_value"),
        ({"container": "c"}, 400, "invalid_request_error", "unsupported_parameter"),
        (
            {"messages": [{"role": "user", "content": "long " * 9000}]},
            413,
            "request_too_large",
            "prompt_too_large",
        ),
    ],
)
def test_errors_have_the_form_of_the_api(
    server: RunningServer,
    values: dict[str, Any],
    status: int,
    kind: str,
    code: str,
    streamed: bool,
) -> None:
    assert refused(post(server, stream=streamed, **values), status, kind)["code"] == code


@pytest.mark.parametrize("path", [MESSAGES, COUNT])
def test_a_body_that_is_no_json_is_refused_in_that_form(server: RunningServer, path: str) -> None:
    with server.client() as client:
        answer = client.post(path, content=b"{")
    assert refused(answer, 400, "invalid_request_error")["code"] == "invalid_json"


def test_the_key_of_the_api_is_the_token(guarded: RunningServer) -> None:
    both = {"X-Api-Key": TOKEN, "Authorization": f"Bearer {TOKEN}"}
    with guarded.client() as client:

        def status(path: str, **headers: str) -> int:
            return client.post(path, json=ASKED | {"max_tokens": 1}, headers=headers).status_code

        assert status(MESSAGES, **{"X-Api-Key": TOKEN}) == 200
        assert status(MESSAGES, **both) == 200
        assert status(MESSAGES, **{"X-Api-Key": "another-token-of-nobody"}) == 401
        assert status(MESSAGES, **(both | {"X-Api-Key": "another-token-of-nobody"})) == 401
        assert status(MESSAGES) == 401
        # The header means nothing to other APIs.
        assert status("/v1/chat/completions", **{"X-Api-Key": TOKEN}) == 401
        assert status("/v1/messagesX", **{"X-Api-Key": TOKEN}) == 401


def test_an_allowed_page_may_send_the_headers_of_the_client(guarded: RunningServer) -> None:
    asked = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "anthropic-dangerous-direct-browser-access,"
        "anthropic-version,content-type,x-api-key,x-stainless-lang,x-stainless-retry-count",
    }
    with guarded.client() as client:
        assert client.options(MESSAGES, headers=asked).status_code == 200


def test_a_reader_that_leaves_ends_the_work(server: RunningServer) -> None:
    schema = {"type": "array", "items": {"type": "boolean"}, "minItems": 900, "maxItems": 999}
    endless = {"format": {"type": "json_schema", "schema": schema}}
    asked = ASKED | {"stream": True, "max_tokens": 4000, "output_config": endless}
    with server.client() as client, client.stream("POST", MESSAGES, json=asked) as answer:
        assert next(answer.iter_lines()) == "event: message_start"
    patience.until(lambda: not _running(server))


def _running(server: RunningServer) -> int:
    with server.client() as client:
        found: int = client.get("/v1/stats").json()["generations"]["running"]
    return found
