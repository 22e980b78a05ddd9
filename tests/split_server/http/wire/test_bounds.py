"""A uvicorn that is not ours keeps our limits once it is bound, however it is made."""

from __future__ import annotations

import hashlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import uvicorn
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from split_server.http.wire.bounds import bound_uvicorn
from split_server.http.wire.websocket import BoundedWebSocket
from split_wire.client import ClientProtocol, SessionOpened
from split_wire.messages import SUBPROTOCOL
from tests.patience import PATIENCE
from tests.server_process import STREAM_PATH

# As a host of other people's applications does it: it makes its own configuration, and all that is
# said to it before is what this process does.
_HOST = """
import sys
import uvicorn
from split_server.http.wire import protocols
from split_server.http.wire.bounds import bound_uvicorn
from split_server.security.access import AccessPolicy
from split_server.serving.app import build_app
from split_server.serving.config import ServerConfig

app = build_app(ServerConfig(model=sys.argv[1], compat=False), AccessPolicy(None))
bound_uvicorn(app.max_message_bytes)
protocols.HEAD_SECONDS = 0.3

class Host(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        print(port, app.max_message_bytes, flush=True)

Host(uvicorn.Config(app.asgi, port=0, log_config=None)).run()
"""


@dataclass(frozen=True)
class _Host:
    port: int
    largest: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def socket(self) -> ClientConnection:
        """A WebSocket that offers compression, as libraries do."""
        return connect(
            f"ws://127.0.0.1:{self.port}{STREAM_PATH}",
            subprotocols=[SUBPROTOCOL],  # type: ignore[list-item]
            compression="deflate",
            open_timeout=PATIENCE,
            proxy=None,
        )


@pytest.fixture(scope="module")
def host(tiny_path: Path) -> Iterator[_Host]:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOST, str(tiny_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        port, largest = process.stdout.readline().split()
        yield _Host(int(port), int(largest))
        process.terminate()
        process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def test_a_session_is_opened_and_nothing_is_compressed(host: _Host) -> None:
    manifest = httpx.get(f"{host.url}/weights/manifest.json", trust_env=False)
    digest = hashlib.sha256(manifest.content).hexdigest()
    device = ClientProtocol(manifest.json()["hidden_size"], digest)
    with host.socket() as websocket:
        assert websocket.response is not None
        assert "sec-websocket-extensions" not in websocket.response.headers
        websocket.send(device.open())
        assert isinstance(
            device.receive(websocket.recv(timeout=PATIENCE, decode=False)), SessionOpened
        )


def test_a_message_beyond_the_largest_closes_its_socket(host: _Host) -> None:
    assert host.largest < 16 << 20
    with host.socket() as websocket:
        websocket.send(bytes(host.largest + 1))
        with pytest.raises(ConnectionClosed) as caught:
            websocket.recv(timeout=PATIENCE)
    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1009


def test_a_head_that_does_not_end_ends_its_connection(host: _Host) -> None:
    with socket.create_connection(("127.0.0.1", host.port), timeout=PATIENCE) as raw:
        raw.sendall(b"GET /health HT")
        assert raw.recv(4096) == b""


def test_what_a_local_process_forwards_is_not_believed(host: _Host) -> None:
    headers = {"Origin": f"https://127.0.0.1:{host.port}", "X-Forwarded-Proto": "https"}
    answer = httpx.get(f"{host.url}/weights/manifest.json", headers=headers, trust_env=False)
    assert answer.status_code == 403
    assert "server" not in answer.headers


def test_a_configuration_can_be_bound_by_itself() -> None:
    async def app(*_: object) -> None:
        """Never asked."""

    bound, other = (uvicorn.Config(app, log_config=None) for _ in range(2))
    bound_uvicorn(1234, bound)
    assert bound.ws is BoundedWebSocket
    assert (bound.ws_max_size, bound.ws_per_message_deflate) == (1234, False)
    assert (bound.proxy_headers, bound.server_header) == (False, False)
    assert other.ws_max_size == 16 << 20
