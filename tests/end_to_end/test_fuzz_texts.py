"""Many damaged requests to each endpoint of the text APIs beside chats and completions."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from scripts.bench.hostile import mutations
from tests import patience
from tests.exhaustive import EXHAUSTIVE
from tests.patience import PATIENCE
from tests.server_process import RunningServer, running_server

pytestmark = pytest.mark.slow
COUNT = 1000 if EXHAUSTIVE else 150
_PARAMETERS = {"type": "object", "properties": {"a": {"type": "boolean"}}}
_FUNCTION = {"type": "function", "function": {"name": "f", "parameters": _PARAMETERS}}
_CALL = {"function": {"name": "f", "arguments": {"a": True}}}
_MESSAGES: dict[str, Any] = {
    "model": "gatelink",
    "max_tokens": 3,
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Hello"}]},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": True}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": "no"}],
        },
    ],
    "system": "Be brief.",
    "stop_sequences": ["x"],
    "temperature": 0.5,
    "tools": [{"name": "f", "input_schema": _PARAMETERS}],
    "tool_choice": {"type": "auto"},
}
_RESPONSES: dict[str, Any] = {
    "model": "gatelink",
    "max_output_tokens": 3,
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "no"},
    ],
    "tools": [{"type": "function", "name": "f", "parameters": _PARAMETERS}],
    "text": {"format": {"type": "text"}},
    "metadata": {"a": "b"},
    "store": True,
}
_CHAT: dict[str, Any] = {
    "model": "gatelink:latest",
    "messages": [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "", "tool_calls": [_CALL]},
        {"role": "tool", "content": "no", "tool_name": "f"},
    ],
    "options": {"num_predict": 3, "temperature": 0.5, "stop": ["x"], "seed": 1},
    "tools": [_FUNCTION],
    "keep_alive": "5m",
}
_GENERATE = {
    "model": "gatelink",
    "prompt": "Hello",
    "system": "Be brief.",
    "options": {"num_predict": 3},
    "logprobs": True,
}
# Asks for the scores of its prompts and no reply, as evaluations do.
_SCORED: dict[str, Any] = {
    "model": "gatelink",
    "prompt": ["Hello", [5, 6, 7]],
    "echo": True,
    "logprobs": 2,
    "max_tokens": 0,
    "temperature": 0,
    "stop": ["x"],
}
_TOKENIZE: dict[str, Any] = {
    "model": "gatelink",
    "messages": [{"role": "user", "content": "Hello"}],
    "tools": [_FUNCTION],
    "add_generation_prompt": True,
    "return_token_strs": True,
}
WHOLE: dict[str, dict[str, Any]] = {
    "/v1/completions": _SCORED,
    "/tokenize": _TOKENIZE,
    "/detokenize": {"model": "gatelink", "tokens": [5, 6, 7]},
    "/v1/messages": _MESSAGES,
    "/v1/messages/count_tokens": _MESSAGES,
    "/v1/responses": _RESPONSES,
    "/v1/responses/input_tokens": _RESPONSES,
    "/v1/embeddings": {"model": "gatelink", "input": ["Hello", "you"], "pooling": "mean"},
    "/api/chat": _CHAT,
    "/api/generate": _GENERATE,
    "/api/show": {"model": "gatelink"},
    "/api/embed": {"model": "gatelink", "input": ["Hello", [5, 6]], "truncate": True},
    "/api/embeddings": {"model": "gatelink", "prompt": "Hello"},
}


@pytest.fixture(scope="module")
def server(tiny_path: Path) -> Iterator[RunningServer]:
    # Whatever is left out of a request, no reply is long.
    with running_server(tiny_path, max_tokens_ceiling=4) as running:
        yield running


@pytest.mark.parametrize("path", WHOLE)
def test_damaged_requests_get_errors_of_that_api_and_leave_nothing_running(
    server: RunningServer, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    rng = random.Random(path)  # noqa: S311 - repeatable, nothing secret
    seen: Counter[str] = Counter()
    with server.client() as client:
        for number in range(COUNT):
            streamed = {"stream": number % 2 == 0} if "stream" in _read(path) else {}
            body = _damaged(rng, WHOLE[path] | streamed)
            answer = client.post(path, content=body)
            seen[_checked(path, answer)] += 1
    assert {"ok", "invalid_json", "invalid_value", "unsupported_parameter"} <= set(seen), seen
    compat = server.parts.compat
    assert compat is not None
    places = compat.generator.places
    patience.until(lambda: not places.running and not places.waiting)
    with server.client() as client:
        # The whole of what the principal may have under way is there again.
        assert client.post(path, json=WHOLE[path], timeout=PATIENCE).status_code == 200
    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert not errors


def _read(path: str) -> str:
    """Which of the endpoints stream."""
    return "stream" if path in _STREAMED else ""


_STREAMED = ("/v1/messages", "/v1/responses", "/v1/completions", "/api/chat", "/api/generate")


def _damaged(rng: random.Random, whole: dict[str, Any]) -> bytes:
    """Damage at the top or within, of values or of bytes."""
    values = dict(whole)
    if rng.random() < 0.6:
        name = rng.choice(list(values))
        values[name] = _inside(rng, values[name])
        if rng.random() < 0.7:
            return json.dumps(values).encode("utf-8", "surrogatepass")
    return mutations.mutated_text(rng, values).encode("utf-8", "surrogatepass")


def _inside(rng: random.Random, value: Any) -> Any:
    if isinstance(value, dict) and value:
        if rng.random() < 0.5:
            return mutations.mutated_map(rng, value)
        name = rng.choice(list(value))
        return value | {name: _inside(rng, value[name])}
    if isinstance(value, list) and value:
        index = rng.randrange(len(value))
        return [*value[:index], _inside(rng, value[index]), *value[index + 1 :]]
    return rng.choice(mutations.STRANGE)


def _checked(path: str, answer: httpx.Response) -> str:
    """The code of an error in the form of the path's API; ``ok`` for any other answer."""
    assert answer.status_code < 500, (answer.request.content, answer.text)
    if answer.status_code == 200:
        return _within(path, answer)
    return _FORMS[path.split("/")[1]](path, answer.json())


def _within(path: str, answer: httpx.Response) -> str:
    """A stream has no error, as nothing fails once it has begun."""
    kind = answer.headers["content-type"]
    if kind == "application/x-ndjson":
        assert all("error" not in json.loads(line) for line in answer.text.splitlines())
    elif kind == "text/event-stream":
        assert "event: error" not in answer.text
        assert "response.failed" not in answer.text
    return "ok"


def _v1(path: str, body: dict[str, Any]) -> str:
    error: dict[str, Any] = body["error"]
    assert {"message", "type", "param", "code"} <= error.keys()
    if path.startswith("/v1/messages"):
        assert body["type"] == "error"
        assert error["type"].endswith("_error") or error["type"] == "request_too_large"
    else:
        assert error["type"] == "invalid_request_error"
    return str(error["code"])


def _api(_: str, body: dict[str, Any]) -> str:
    assert isinstance(body["error"], str)
    assert body["error"]
    return str(body["code"])


_FORMS: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "v1": _v1,
    "tokenize": _v1,
    "detokenize": _v1,
    "api": _api,
}
