"""The listener for whoever runs the server, over real sockets: who is told what, and what holds."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from split_server.http.wire import protocols
from split_server.security.host import lan_addresses
from tests.patience import PATIENCE, until
from tests.server_process import RunningServer, running_server
from tests.split_server.conftest import ALLOWED_ORIGIN, TOKEN

_PATHS = ("/health", "/ready", "/metrics")


@pytest.fixture
def server(tiny_path: Path) -> Iterator[RunningServer]:
    """A server that asks for a token, with a listener of its own on loopback."""
    settings: dict[str, Any] = {
        "ops_listen": "127.0.0.1:0",
        "token": TOKEN,
        "allow_origin": (ALLOWED_ORIGIN,),
    }
    with running_server(tiny_path, compat=False, **settings) as running:
        yield running


def _get(port: int, path: str, host: str = "127.0.0.1", **headers: str) -> httpx.Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    url = f"http://{host}:{port}{path}"
    return httpx.get(url, headers=named, trust_env=False, timeout=PATIENCE)


def _connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def test_on_loopback_all_three_need_no_token_and_nothing_else_is_there(
    server: RunningServer,
) -> None:
    for path in _PATHS:
        assert _get(server.ops_port, path).status_code == 200
        assert _get(server.port, path).status_code == (401 if path == "/metrics" else 200)
    assert "split_ready 1.0" in _get(server.ops_port, "/metrics").text
    for path in ("/", "/weights/manifest.json", "/api/v1/memory", "/v1/models", "/ca.crt"):
        assert _get(server.ops_port, path).status_code == 404
    assert httpx.post(f"http://127.0.0.1:{server.ops_port}/metrics").status_code == 405


def test_metrics_keep_the_host_guard_and_are_for_no_page(server: RunningServer) -> None:
    port = server.ops_port
    for path in ("/health", "/ready"):
        assert _get(port, path, Host="evil.example").status_code == 200
    assert _get(port, "/metrics", Host="evil.example").status_code == 403
    for origin in ("https://evil.example", ALLOWED_ORIGIN, f"http://127.0.0.1:{port}", "null"):
        refused = _get(port, "/metrics", Origin=origin)
        assert refused.json()["error"]["code"] == "forbidden_origin"
        assert "access-control-allow-origin" not in refused.headers
    assert _get(port, "/metrics", Sec_Fetch_Site="cross-site").status_code == 403


def test_beyond_loopback_metrics_ask_for_the_token(tiny_path: Path) -> None:
    here = next(iter(lan_addresses()), None)
    if here is None:
        pytest.skip("this machine has no address beyond loopback")
    settings: dict[str, Any] = {"ops_listen": f"{here}:0", "token": TOKEN}
    with running_server(tiny_path, compat=False, **settings) as server:
        port = server.ops_port
        assert [_get(port, path, here).status_code for path in _PATHS] == [200, 200, 401]
        bearer = f"Bearer {TOKEN}"
        assert _get(port, "/metrics", here, Authorization=bearer).status_code == 200
        assert _get(port, "/metrics", here, Authorization="Bearer x").status_code == 401


def test_idle_connections_of_the_main_listener_make_no_check_fail(server: RunningServer) -> None:
    idle = [_connected(server.port) for _ in range(1024)]
    try:
        for path in _PATHS:
            assert _get(server.ops_port, path).status_code == 200
    finally:
        for each in idle:
            each.close()


def test_a_connection_there_is_none_of_the_main_listeners(server: RunningServer) -> None:
    """Whichever of the two is crowded, no connection of the other one makes way."""
    for crowded, spared in (
        (server.port, server.ops_port),
        (server.ops_port, server.port),
    ):
        with _connected(spared) as waiting:
            idle = [_connected(crowded) for _ in range(200)]
            try:
                assert _get(crowded, "/health").status_code == 200
                waiting.sendall(b"GET /ready HTTP/1.1\r\nConnection: close\r\n\r\n")
                assert waiting.recv(4096).startswith(b"HTTP/1.1 200")
            finally:
                for each in idle:
                    each.close()


def test_connections_that_hang_there_make_none_fail_either(server: RunningServer) -> None:
    hanging = []
    for number in range(300):
        raw = _connected(server.ops_port)
        # Every second one has sent half of a request.
        raw.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n" * (number % 2))
        hanging.append(raw)
    try:
        for path in _PATHS * 3:
            assert _get(server.ops_port, path).status_code == 200
        doors = server.server._beside[0].doors
        assert doors is not None
        # One of the checks may not be gone yet.
        assert 60 < len(doors) <= 65
        assert _get(server.port, "/health").status_code == 200
    finally:
        for each in hanging:
            each.close()


def test_a_huge_or_slow_head_ends_its_connection_alone(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _connected(server.ops_port) as raw:
        filler = b"X-Filler: " + b"x" * 70_000
        raw.sendall(b"GET /ready HTTP/1.1\r\nHost: localhost\r\n" + filler + b"\r\n\r\n")
        assert raw.recv(4096).startswith(b"HTTP/1.1 400")
    monkeypatch.setattr(protocols, "HEAD_SECONDS", 0.2)
    with _connected(server.ops_port) as raw:
        raw.sendall(b"GET /ready HT")
        assert raw.recv(4096) == b""
    assert _get(server.ops_port, "/ready").status_code == 200


def test_a_websocket_is_refused_there(server: RunningServer) -> None:
    with _connected(server.ops_port) as raw:
        raw.sendall(
            b"GET /api/v1/split/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            b"Sec-WebSocket-Version: 13\r\n\r\n"
        )
        assert raw.recv(4096).split(b"\r\n")[0].split()[1] in (b"403", b"404")


def test_it_is_not_ready_once_sessions_had_better_go_elsewhere(server: RunningServer) -> None:
    server.loop.call_soon_threadsafe(server.app.leave)
    until(lambda: _get(server.ops_port, "/ready").status_code == 503)
    assert _get(server.ops_port, "/health").status_code == 200
    assert "split_ready 0.0" in _get(server.ops_port, "/metrics").text
