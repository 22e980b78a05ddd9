"""Requests of OpenAI's API over real HTTP, and their answers read back."""

from __future__ import annotations

import json
from typing import Any

import httpx

from tests.server_process import RunningServer

CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
HELLO = [{"role": "user", "content": "What is split inference?"}]


def post(server: RunningServer, path: str, **values: Any) -> httpx.Response:
    """POST a JSON body."""
    with server.client() as client:
        return client.post(path, json=values)


def chat(server: RunningServer, **values: Any) -> dict[str, Any]:
    """A chat completion that must succeed."""
    return _succeeded(post(server, CHAT, **({"model": "gatelink", "messages": HELLO} | values)))


def completion(server: RunningServer, **values: Any) -> dict[str, Any]:
    """A completion that must succeed."""
    return _succeeded(post(server, COMPLETIONS, **({"model": "gatelink"} | values)))


def stream(server: RunningServer, path: str, **values: Any) -> list[dict[str, Any]]:
    """The events of a stream, which must end as OpenAI's do."""
    answer = post(server, path, **({"model": "gatelink", "stream": True} | values))
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    return events(answer.text)


def events(text: str) -> list[dict[str, Any]]:
    """The events of a body of server-sent events, without the last one."""
    *lines, last, end = text.split("\n\n")
    assert (last, end) == ("data: [DONE]", "")
    assert all(line.startswith("data: {") for line in lines)
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def refused(answer: httpx.Response, status: int) -> dict[str, Any]:
    """The error of an answer, in OpenAI's shape."""
    assert answer.status_code == status, answer.text
    error: dict[str, Any] = answer.json()["error"]
    assert {"message", "type", "param", "code"} <= error.keys()
    assert isinstance(error["message"], str)
    return error


def _succeeded(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body
