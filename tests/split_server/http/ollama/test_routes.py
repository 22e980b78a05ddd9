"""Ollama's API over a real server, on its own listener and beside the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import httpx
import pytest

from split_server.compat.ollama.descriptions import VERSION
from tests import patience
from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import chat

HELLO = [{"role": "user", "content": "What is split inference?"}]
GREEDY = {"temperature": 0, "num_predict": 24}
ASKED: dict[str, Any] = {"model": "gatelink-demo:latest", "options": GREEDY}
TOKEN = "a-token-of-the-test"
ORIGIN = "https://chat.example.org"
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
LONG = {"type": "array", "items": {"type": "boolean"}, "minItems": 900, "maxItems": 999}


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(ollama_listen="127.0.0.1:0", allow_origin=(ORIGIN,)) as running:
        yield running


def post(server: RunningServer, path: str, **values: Any) -> httpx.Response:
    with server.client() as client:
        return client.post(path, json=ASKED | values)


def lines(answer: httpx.Response) -> list[dict[str, Any]]:
    """The lines of a stream, of which only the last is done."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    found = [json.loads(line) for line in answer.text.splitlines()]
    assert [line["done"] for line in found] == [False] * (len(found) - 1) + [True]
    return found


def beside(server: RunningServer, **options: Any) -> httpx.Client:
    """A client of the second listener."""
    url = f"http://127.0.0.1:{server.ollama_port}"
    return httpx.Client(base_url=url, trust_env=False, timeout=PATIENCE, **options)


def test_a_chat_is_that_of_openais_api(server: RunningServer) -> None:
    whole = post(server, "/api/chat", messages=HELLO, stream=False).json()
    other = chat(server, messages=HELLO, temperature=0, max_tokens=24)
    assert whole["message"]["content"] == other["choices"][0]["message"]["content"]
    assert whole["prompt_eval_count"] == other["usage"]["prompt_tokens"]
    assert whole["eval_count"] == other["usage"]["completion_tokens"]
    assert whole["total_duration"] > 0
    found = lines(post(server, "/api/chat", messages=HELLO))
    text = "".join(line["message"]["content"] for line in found)
    assert text == whole["message"]["content"]
    assert found[-1]["done_reason"] == whole["done_reason"]


def test_a_prompt_is_answered_and_a_raw_one_continued(server: RunningServer) -> None:
    prompt = HELLO[0]["content"]
    answered = post(server, "/api/generate", prompt=prompt, stream=False).json()["response"]
    said = post(server, "/api/chat", messages=HELLO, stream=False).json()["message"]["content"]
    assert answered == said
    found = lines(post(server, "/api/generate", prompt="What is", raw=True, logprobs=True))
    with server.client() as client:
        asked = {"prompt": "What is", "temperature": 0, "max_tokens": 24}
        text = client.post("/v1/completions", json=asked).json()["choices"][0]["text"]
    assert "".join(line["response"] for line in found) == text
    tokens = [token["token"] for line in found for token in line.get("logprobs", ())]
    assert "".join(tokens).startswith(text)


def test_a_model_calls_a_tool_and_keeps_to_a_format(server: RunningServer) -> None:
    schema = {
        "type": "object",
        "properties": {"yes": {"type": "boolean"}},
        "required": ["yes"],
        "additionalProperties": False,
    }
    answer = post(server, "/api/chat", messages=HELLO, format=schema, tools=[TOOL], stream=False)
    assert isinstance(json.loads(answer.json()["message"]["content"])["yes"], bool)
    refused = post(server, "/api/chat", messages=HELLO, format={"not": {}})
    assert refused.status_code == 400
    assert (refused.json()["code"], refused.json()["param"]) == ("invalid_schema", "format")


def test_the_model_is_listed_shown_and_loaded(server: RunningServer) -> None:
    with server.client() as client:
        (listed,) = client.get("/api/tags").json()["models"]
        (loaded,) = client.get("/api/ps").json()["models"]
        shown = client.post("/api/show", json={"model": listed["model"]}).json()
        version = client.get("/api/version").json()["version"]
    assert listed["name"] == loaded["name"] == "gatelink-demo:latest"
    assert listed["digest"] == server.manifest
    assert listed["size"] > 0
    assert datetime.fromisoformat(listed["modified_at"])
    assert loaded["context_length"] == 4096
    assert shown["capabilities"][0] == "completion"
    assert shown["model_info"]["qwen2.context_length"] == 4096
    assert "im_start" in shown["template"]
    assert "temperature" in shown["parameters"]
    assert version.count(".") == 2


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate"])
def test_nothing_is_loaded_or_unloaded(server: RunningServer, path: str) -> None:
    assert post(server, path).json()["done_reason"] == "load"
    assert post(server, path, keep_alive=0).json()["done_reason"] == "unload"
    with server.client() as client:
        assert client.get("/api/ps").json()["models"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("POST", f"/api/{name}") for name in ("pull", "push", "create", "copy")),
        ("DELETE", "/api/delete"),
        ("POST", "/api/blobs/sha256:00"),
        ("HEAD", "/api/blobs/sha256:00"),
    ],
)
def test_models_are_not_managed(server: RunningServer, method: str, path: str) -> None:
    with server.client() as client:
        answer = client.request(method, path, json={"model": "x"})
    assert answer.status_code == 400
    if method != "HEAD":
        body = answer.json()
        assert body["code"] == "unsupported_parameter"
        assert path.split("/")[2] in body["error"]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("values", "status", "code"),
    [
        ({"model": "other"}, 404, "model_not_found"),
        ({"options": {"mirostat": 2}}, 400, "unsupported_parameter"),
        ({"options": {"temperature": -1}}, 400, "invalid_value"),
        ({"messages": [{"role": "user", "content": "long " * 9000}]}, 413, "prompt_too_large"),
    ],
)
def test_an_error_is_a_text(
    server: RunningServer, values: dict[str, Any], status: int, code: str, streamed: bool
) -> None:
    answer = post(server, "/api/chat", **({"messages": HELLO, "stream": streamed} | values))
    assert answer.status_code == status
    assert isinstance(answer.json()["error"], str)
    assert answer.json()["code"] == code


def test_a_reader_that_leaves_ends_the_work(server: RunningServer) -> None:
    asked = ASKED | {"messages": HELLO, "format": LONG, "options": {}}
    with beside(server) as client, client.stream("POST", "/api/chat", json=asked) as answer:
        assert json.loads(next(answer.iter_lines()))["done"] is False
    patience.until(lambda: not server.parts.compat.generator.places.running)  # type: ignore[union-attr]


def test_the_second_listener_has_ollamas_paths_alone(server: RunningServer) -> None:
    with beside(server) as client:
        assert client.get("/").text == "Ollama is running"
        assert client.head("/").status_code == 200
        answer = client.post("/api/chat", json=ASKED | {"messages": HELLO, "stream": False})
        assert answer.json()["message"]["content"].startswith("Split inference")
        for path in ("/v1/models", "/api/v1/model", "/health", "/metrics", "/openapi.json", "/x"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), path
        assert client.get("/api/chat").json()["code"] == "method_not_allowed"


def test_the_second_listener_guards_host_and_origin(server: RunningServer) -> None:
    with beside(server) as client:

        def code(**headers: str) -> Any:
            return client.get("/api/tags", headers=headers).json()["code"]

        assert code(Host="evil.example") == "forbidden_host"
        assert code(Origin="https://evil.example") == "forbidden_origin"
        assert code(**{"Sec-Fetch-Site": "cross-site"}) == "forbidden_origin"
        allowed = client.get("/api/tags", headers={"Origin": ORIGIN})
        assert allowed.headers["access-control-allow-origin"] == ORIGIN


def test_the_second_listener_wants_the_token_of_the_first() -> None:
    right = {"Authorization": f"Bearer {TOKEN}"}
    with (
        running_server(ollama_listen="127.0.0.1:0", token=TOKEN) as server,
        beside(server) as client,
    ):
        refused = client.get("/api/tags")
        assert (refused.status_code, refused.json()["code"]) == (401, "unauthorized")
        assert "Authorization: Bearer TOKEN" in refused.json()["error"]
        assert client.get("/api/tags", headers=right).status_code == 200
        with server.client() as first:
            # The level is asked for before a token is sent; it is the same constant everywhere.
            levels = [asked.get("/api/version").json() for asked in (client, first)]
        assert levels[0] == levels[1] == {"version": VERSION}
        # Only routes of Anthropic's API take another header.
        assert client.get("/api/tags", headers={"X-Api-Key": TOKEN}).status_code == 401


def test_both_listeners_count_towards_the_same_limit() -> None:
    right = {"Authorization": f"Bearer {TOKEN}"}
    with (
        running_server(
            ollama_listen="127.0.0.1:0", max_connections_per_address=2, token=TOKEN
        ) as server,
        server.client(headers=right) as first,
        beside(server, headers=right) as second,
        beside(server) as third,
    ):
        assert first.get("/v1/models").status_code == 200
        assert second.get("/api/tags").status_code == 200
        assert third.get("/").status_code == 503


def test_a_stream_is_finished_before_the_server_stops() -> None:
    with running_server(ollama_listen="127.0.0.1:0") as server:
        asked = ASKED | {"messages": HELLO}
        with beside(server) as client, client.stream("POST", "/api/chat", json=asked) as answer:
            arriving = answer.iter_lines()
            next(arriving)
            server.server.should_exit = True
            last = [json.loads(line) for line in arriving][-1]
        assert last.get("done") or last["code"] == "shutting_down"
        server.thread.join(PATIENCE)
        with pytest.raises(httpx.ConnectError), beside(server) as client:
            client.get("/")
