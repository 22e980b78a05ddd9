"""The Responses API over a real server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from split_server.compat.responses.kept import KeptResponses
from tests import patience
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import chat, refused

RESPONSES = "/v1/responses"
QUESTION = "What is split inference?"
HELLO = [{"role": "user", "content": QUESTION}]
ASKED: dict[str, Any] = {
    "model": "gatelink",
    "input": QUESTION,
    "temperature": 0,
    "max_output_tokens": 24,
}
ADA = {"Authorization": "Bearer ada-has-this-token"}
BABBAGE = {"Authorization": "Bearer babbage-has-this-token"}
LONG = {"type": "array", "items": {"type": "boolean"}, "minItems": 900, "maxItems": 999}


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


def post(server: RunningServer, path: str = RESPONSES, **values: Any) -> httpx.Response:
    with server.client() as client:
        return client.post(path, json=ASKED | values)


def responded(server: RunningServer, **values: Any) -> dict[str, Any]:
    answer = post(server, **values)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def events(answer: httpx.Response) -> list[dict[str, Any]]:
    """The events of a stream, named and numbered."""
    assert answer.headers["content-type"] == "text/event-stream"
    *blocks, end = answer.text.split("\n\n")
    assert end == ""
    found = []
    for number, block in enumerate(blocks):
        name, data = block.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
        assert found[-1]["sequence_number"] == number
    return found


def text_of(response: dict[str, Any]) -> str:
    return "".join(part["text"] for item in response["output"] for part in item["content"])


def kept_by(server: RunningServer) -> KeptResponses:
    texts = server.app.first.texts
    assert texts is not None
    return texts.responses


def test_a_response_is_that_of_a_chat(server: RunningServer) -> None:
    response = responded(server)
    other = chat(server, messages=HELLO, temperature=0, max_tokens=24)
    assert text_of(response) == other["choices"][0]["message"]["content"]
    assert response["usage"]["input_tokens"] == other["usage"]["prompt_tokens"]
    assert response["model"] == "gatelink-demo"
    assert response["store"] is False


def test_a_stream_tells_the_same_as_the_whole_answer(server: RunningServer) -> None:
    whole, found = responded(server), events(post(server, stream=True))
    last = found[-1]["response"]
    assert text_of(last) == text_of(whole)
    assert (last["status"], last["usage"]["output_tokens"]) == (
        whole["status"],
        whole["usage"]["output_tokens"],
    )
    deltas = [e["delta"] for e in found if e["type"] == "response.output_text.delta"]
    assert "".join(deltas) == text_of(whole)


def test_a_format_is_kept_to_and_a_tool_can_be_forced(server: RunningServer) -> None:
    schema = {
        "type": "object",
        "properties": {"yes": {"type": "boolean"}},
        "required": ["yes"],
        "additionalProperties": False,
    }
    form = {"format": {"type": "json_schema", "name": "answer", "schema": schema}}
    assert isinstance(json.loads(text_of(responded(server, text=form)))["yes"], bool)
    tool = {"type": "function", "name": "f", "parameters": schema, "strict": True}
    choice = {"type": "function", "name": "f"}
    asked = {"tools": [tool], "tool_choice": choice, "max_output_tokens": 64}
    (call,) = responded(server, **asked)["output"]
    assert isinstance(json.loads(call["arguments"])["yes"], bool)
    form["format"]["schema"] = {"not": {}}  # type: ignore[index]
    error = refused(post(server, text=form), 400)
    assert (error["code"], error["param"]) == ("invalid_schema", "text.format.schema")


def test_what_is_stored_goes_on(server: RunningServer) -> None:
    first = responded(server, store=True, instructions="Be brief.")
    assert first["store"] is True
    second = responded(
        server, store=True, previous_response_id=first["id"], input="And is it private?"
    )
    said = text_of(first)
    messages = [
        *HELLO,
        {"role": "assistant", "content": said},
        {"role": "user", "content": "And is it private?"},
    ]
    other = chat(server, messages=messages, temperature=0, max_tokens=24)
    assert text_of(second) == other["choices"][0]["message"]["content"]
    assert second["previous_response_id"] == first["id"]
    with server.client() as client:
        assert client.get(f"{RESPONSES}/{second['id']}").json() == second
        listed = client.get(f"{RESPONSES}/{second['id']}/input_items").json()
        assert [item["content"] for item in listed["data"]] == ["And is it private?"]
        assert client.delete(f"{RESPONSES}/{first['id']}").json()["deleted"] is True
        missing = client.get(f"{RESPONSES}/{first['id']}")
        assert refused(missing, 404)["code"] == "response_not_found"
        assert refused(client.delete(f"{RESPONSES}/{first['id']}"), 404)
    # It has what it needs of the first one.
    assert responded(server, previous_response_id=second["id"], input="Thanks.")["output"]
    lost = refused(post(server, previous_response_id=first["id"]), 400)
    assert lost["code"] == "previous_response_not_found"


def test_instructions_are_not_carried_over_but_system_messages_are(server: RunningServer) -> None:
    items = [{"role": "developer", "content": "Be kind."}, *HELLO]
    first = responded(server, store=True, instructions="Be brief.", input=items)
    second = responded(server, previous_response_id=first["id"], input="Thanks.")
    messages = [
        {"role": "system", "content": "Be kind."},
        *HELLO,
        {"role": "assistant", "content": text_of(first)},
        {"role": "user", "content": "Thanks."},
    ]
    other = chat(server, messages=messages, temperature=0, max_tokens=24)
    assert second["usage"]["input_tokens"] == other["usage"]["prompt_tokens"]
    assert text_of(second) == other["choices"][0]["message"]["content"]


def test_a_call_that_is_stored_takes_its_output(server: RunningServer) -> None:
    tool = {"type": "function", "name": "f", "parameters": {"type": "object"}}
    forced = {"tools": [tool], "tool_choice": "required", "max_output_tokens": 64}
    first = responded(server, store=True, **forced)
    (call,) = first["output"]
    output = {"type": "function_call_output", "call_id": call["call_id"], "output": "12.50"}
    second = responded(server, previous_response_id=first["id"], input=[output], tools=[tool])
    assert second["usage"]["input_tokens"] > first["usage"]["input_tokens"]


@pytest.mark.parametrize("streamed", [False, True])
def test_what_is_not_stored_is_not_there(server: RunningServer, streamed: bool) -> None:
    for asked in ({}, {"store": False}):
        answer = post(server, stream=streamed, **asked)
        response = events(answer)[-1]["response"] if streamed else answer.json()
        assert response["store"] is False
        with server.client() as client:
            assert client.get(f"{RESPONSES}/{response['id']}").status_code == 404


def test_a_streamed_response_is_there_once_its_client_knows(server: RunningServer) -> None:
    with server.client() as client:
        asked = ASKED | {"stream": True, "store": True}
        with client.stream("POST", RESPONSES, json=asked) as answer:
            data = [line for line in answer.iter_lines() if line.startswith("data: ")]
        id_ = json.loads(data[-1].removeprefix("data: "))["response"]["id"]
        assert client.get(f"{RESPONSES}/{id_}").status_code == 200


def test_items_are_listed_in_pages(server: RunningServer) -> None:
    items = [{"role": "user", "content": str(number)} for number in range(5)]
    id_ = responded(server, store=True, input=items)["id"]
    with server.client() as client:

        def page(**query: Any) -> httpx.Response:
            return client.get(f"{RESPONSES}/{id_}/input_items", params=query)

        first = page(limit=2).json()
        assert [item["content"] for item in first["data"]] == ["4", "3"]
        assert first["has_more"]
        rest = page(after=first["last_id"], limit=100).json()
        assert [item["content"] for item in rest["data"]] == ["2", "1", "0"]
        assert not rest["has_more"]
        assert page(order="asc").json()["data"][0]["content"] == "0"
        for query in ({"limit": "0"}, {"limit": "x"}, {"order": "up"}, {"after": "x"}):
            assert refused(page(**query), 400)["param"] == next(iter(query))
        assert refused(client.get(f"{RESPONSES}/{id_}?stream=true"), 400)["param"] == "stream"


def test_a_response_is_its_principals_alone_and_goes_with_the_token(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    both = "ada ada-has-this-token\nbabbage babbage-has-this-token\n"
    tokens.write_text(both)
    with running_server(token_file=tokens) as server, server.client() as client:
        asked = ASKED | {"store": True}
        id_ = client.post(RESPONSES, json=asked, headers=ADA).json()["id"]
        assert client.get(f"{RESPONSES}/{id_}", headers=ADA).status_code == 200
        assert client.get(f"{RESPONSES}/{id_}", headers=BABBAGE).status_code == 404
        assert client.delete(f"{RESPONSES}/{id_}", headers=BABBAGE).status_code == 404
        foreign = client.post(
            RESPONSES, json=ASKED | {"previous_response_id": id_}, headers=BABBAGE
        )
        assert refused(foreign, 400)["code"] == "previous_response_not_found"
        tokens.write_text("babbage babbage-has-this-token\n")
        kept = kept_by(server)
        patience.until(lambda: not len(kept))
        tokens.write_text(both)
        patience.until(lambda: client.get("/v1/models", headers=ADA).status_code == 200)
        assert client.get(f"{RESPONSES}/{id_}", headers=ADA).status_code == 404


def test_what_is_too_large_to_be_stored_is_refused_before(server: RunningServer) -> None:
    large = [{"role": "user", "content": "a" * 4_000_000}]
    # Whatever the context: the text alone is too much.
    error = refused(post(server, store=True, input=large, metadata={"a": "b" * 500}), 413)
    assert error["code"] in ("response_too_large", "request_too_large", "prompt_too_large")


def test_the_tokens_of_an_input_are_counted(server: RunningServer) -> None:
    answer = post(server, f"{RESPONSES}/input_tokens").json()
    assert answer["input_tokens"] == responded(server)["usage"]["input_tokens"]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("values", "status", "param", "code"),
    [
        ({"model": "other"}, 404, "model", "model_not_found"),
        ({"input": []}, 400, "input", "invalid_value"),
        ({"conversation": "c"}, 400, "conversation", "unsupported_parameter"),
        ({"prompt": {"id": "p"}}, 400, "prompt", "unsupported_parameter"),
        ({"input": "long " * 9000}, 413, None, "prompt_too_large"),
    ],
)
def test_errors_are_those_of_openais_api(
    server: RunningServer,
    values: dict[str, Any],
    status: int,
    param: str | None,
    code: str,
    streamed: bool,
) -> None:
    error = refused(post(server, stream=streamed, **values), status)
    assert (error["param"], error["code"]) == (param, code)


def test_a_reader_that_leaves_ends_the_work_and_stores_nothing(server: RunningServer) -> None:
    kept = len(kept_by(server))
    form = {"format": {"type": "json_schema", "name": "a", "schema": LONG}}
    asked = ASKED | {"stream": True, "store": True, "text": form, "max_output_tokens": 4000}
    with server.client() as client, client.stream("POST", RESPONSES, json=asked) as answer:
        assert next(answer.iter_lines()) == "event: response.created"
    compat = server.parts.compat
    assert compat is not None
    patience.until(lambda: not compat.generator.places.running)
    assert len(kept_by(server)) == kept
