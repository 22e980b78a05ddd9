"""MCP servers behind a URL."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable

import httpx
import pytest

from split_client.tools.errors import McpError
from split_client.tools.mcp.http import HttpChannel
from split_client.tools.mcp.server import McpServer

Handler = Callable[[httpx.Request], httpx.Response]
TOOL = {"name": "add", "inputSchema": {"type": "object"}}
URL = "https://tools.example/mcp"


class FakeServer:
    """Answers as JSON, or as events where ``events``; ``seen`` are the requests."""

    def __init__(self, events: bool = False) -> None:
        self._events = events
        self.seen: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        if request.method == "DELETE":
            return httpx.Response(200)
        message = json.loads(request.content)
        if "id" not in message or "method" not in message:
            return httpx.Response(202)
        results = {
            "initialize": {"protocolVersion": "2025-06-18"},
            "tools/list": {"tools": [TOOL]},
            "tools/call": {"content": [{"type": "text", "text": "3"}]},
        }
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
        headers = {"Mcp-Session-Id": "s1"} if message["method"] == "initialize" else {}
        if not self._events:
            return httpx.Response(200, json=answer, headers=headers)
        other = {"jsonrpc": "2.0", "id": "x", "method": "roots/list"}
        body = "".join(f"event: message\ndata: {json.dumps(m)}\n\n" for m in (other, answer))
        return httpx.Response(
            200, text=body, headers=headers | {"Content-Type": "text/event-stream"}
        )


def server(handler: Handler, url: str = URL, **headers: str) -> McpServer:
    channel = HttpChannel("web", url, headers, transport=httpx.MockTransport(handler))
    return McpServer("web", channel, 20.0)


@pytest.mark.parametrize("events", [False, True])
def test_tools_are_listed_and_called_within_a_session(events: bool) -> None:
    fake = FakeServer(events)
    web = server(fake, Authorization="Bearer x")
    [tool] = web.tools()
    assert tool.name == "web__add"
    assert tool.run is not None
    assert tool.run({}) == "3"
    web.close()
    assert all(request.headers["Authorization"] == "Bearer x" for request in fake.seen)
    assert all(request.headers["Mcp-Session-Id"] == "s1" for request in fake.seen[1:])
    assert fake.seen[-1].method == "DELETE"
    assert fake.seen[-2].headers["MCP-Protocol-Version"] == "2025-06-18"
    refused = [json.loads(request.content) for request in fake.seen[:-1]]
    asked = [message for message in refused if message.get("id") == "x"]
    assert [message["error"]["code"] for message in asked] == [-32601] * (3 if events else 0)


@pytest.mark.parametrize("url", ["http://tools.example/mcp", "ftp://x", "https://", "https://a?b"])
def test_only_https_and_this_machine_are_reached(url: str) -> None:
    with pytest.raises(McpError):
        HttpChannel("web", url, {})
    HttpChannel("web", "http://127.0.0.1:1/mcp", {}).close()


def test_a_redirect_leads_to_no_other_host() -> None:
    fake = FakeServer()

    def moved(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/"):
            return httpx.Response(307, headers={"Location": "/mcp/"})
        return fake(request)

    assert len(server(moved).tools()) == 1
    for location in ("https://evil.example/", "http://tools.example/", "//evil.example/"):
        away = httpx.Response(308, headers={"Location": location})
        with pytest.raises(McpError, match="another host"):
            server(lambda _, away=away: away).tools()  # type: ignore[misc]
    circle = httpx.Response(307, headers={"Location": "/mcp"})
    with pytest.raises(McpError, match="again and again"):
        server(lambda _: circle).tools()


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (httpx.Response(401), "token"),
        (httpx.Response(500), "500"),
        (httpx.Response(302, headers={"Location": "https://evil.example"}), "302"),
        (httpx.Response(200, text="<html>"), "not JSON"),
        (httpx.Response(200, text="[" * 100_000), "not JSON"),
        (httpx.Response(200, text=""), "too soon"),
        (httpx.Response(200, content=b"x" * (9 << 20)), "more than"),
        (httpx.Response(200, json={"id": 1, "error": {"message": "\x1b[31mno\n"}}), "no$"),
        (httpx.Response(200, json={"id": 1, "result": 3}), "no result"),
    ],
    ids=range(9),
)
def test_other_answers_are_refused_in_one_line(response: httpx.Response, reason: str) -> None:
    with pytest.raises(McpError, match=reason) as raised:
        server(lambda _: response).tools()
    assert "\n" not in str(raised.value)
    assert "\x1b" not in str(raised.value)


def test_a_server_that_is_not_there_is_told() -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    with pytest.raises(McpError, match="cannot be reached"):
        server(fail).tools()


@pytest.mark.parametrize("beginning", [b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_a_server_that_drips_ends_in_time(beginning: bytes) -> None:
    stop = threading.Event()

    def drip(listener: socket.socket) -> None:
        with listener.accept()[0] as one, contextlib.suppress(OSError):
            one.recv(65536)
            one.sendall(beginning)
            while not stop.wait(0.01):
                one.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=drip, args=(listener,), daemon=True)
        thread.start()
        channel = HttpChannel("web", f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", {})
        try:
            with pytest.raises(McpError, match="no answer in time"):
                channel.ask({"id": 1, "method": "ping"}, 0.2)
        finally:
            stop.set()
            thread.join(5)
            channel.close()


def test_answers_to_what_a_server_asks_are_sent_within_the_time_of_the_call() -> None:
    now = [0.0]
    told: list[object] = []

    def slow(request: httpx.Request) -> httpx.Response:
        if "method" not in json.loads(request.content):
            now[0] += 4.0
            told.append(request)
            return httpx.Response(202)
        asked = [{"id": number, "method": "ping"} for number in range(100)]
        body = "".join(f"data: {json.dumps(m)}\n\n" for m in [*asked, {"id": 1, "result": {}}])
        return httpx.Response(200, text=body, headers={"Content-Type": "text/event-stream"})

    transport = httpx.MockTransport(slow)
    channel = HttpChannel("web", URL, {}, transport=transport, clock=lambda: now[0])
    with pytest.raises(McpError, match="no answer in time"):
        channel.ask({"id": 1, "method": "ping"}, 20.0)
    assert len(told) == 5
