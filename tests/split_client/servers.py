"""Servers over real sockets for the client's tests: one that is faithful, and broken ones."""

from __future__ import annotations

import contextlib
import http.server
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from websockets.sync.server import ServerConnection, serve

from split_client.transport.endpoint import Endpoint
from split_wire.messages import CONTENT_TYPE, SUBPROTOCOL
from tests.split_wire.peer import Peer

Answer = Callable[[bytes], bytes]


class PeerAnswer:
    """A split server without a model: every frame is answered at once, by real session states."""

    def __init__(self, peer: Peer | None = None) -> None:
        self.peer = peer or Peer("s")
        self.frames: list[bytes] = []
        self._lock = threading.Lock()

    def __call__(self, frame: bytes) -> bytes:
        with self._lock:
            self.frames.append(frame)
            answers = self.peer.receive(frame)
            for session in self.peer.running():
                answers += self.peer.finish(session)
            return answers[-1]


@contextmanager
def socket_server(answer: Answer | Callable[[ServerConnection], None]) -> Iterator[Endpoint]:
    """A WebSocket server; ``answer`` maps frames, or (named ``handle...``) takes the connection."""

    def handle(connection: ServerConnection) -> None:
        with contextlib.suppress(Exception):
            if getattr(answer, "__name__", "").startswith("handle"):
                answer(connection)  # type: ignore[arg-type]
                return
            for frame in connection:
                connection.send(answer(frame))  # type: ignore[arg-type]

    server = serve(
        handle, "127.0.0.1", 0, subprotocols=[SUBPROTOCOL], compression=None, max_size=None
    )
    with server, running(server.serve_forever):
        try:
            yield Endpoint.parse(f"127.0.0.1:{server.socket.getsockname()[1]}")
        finally:
            server.shutdown()


Handle = Callable[[http.server.BaseHTTPRequestHandler], None]


@contextmanager
def http_server(get: Handle | None = None, post: Handle | None = None) -> Iterator[Endpoint]:
    """An HTTP server; a WebSocket upgrade is a GET to it and answered with 404 by default."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            (get or not_found)(self)

        def do_POST(self) -> None:
            (post or not_found)(self)

        def do_DELETE(self) -> None:
            (get or not_found)(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with server, running(server.serve_forever):
        try:
            yield Endpoint.parse(f"127.0.0.1:{server.server_port}")
        finally:
            server.shutdown()


def not_found(handler: http.server.BaseHTTPRequestHandler) -> None:
    respond(handler, 404, b"nothing here", "text/plain")


def respond(
    handler: http.server.BaseHTTPRequestHandler,
    status: int,
    body: bytes,
    content_type: str = "application/json",
    **headers: str,
) -> None:
    """Send one whole response."""
    handler.send_response(status)
    handler.send_header("Content-Type", content_type)
    handler.send_header("Content-Length", str(len(body)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def posting(answer: Answer) -> Handle:
    """POST handler that answers frames."""

    def post(handler: http.server.BaseHTTPRequestHandler) -> None:
        frame = handler.rfile.read(int(handler.headers["Content-Length"]))
        respond(handler, 200, answer(frame), CONTENT_TYPE)

    return post


@contextmanager
def deaf_server() -> Iterator[Endpoint]:
    """Accepts connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Endpoint.parse(f"127.0.0.1:{listener.getsockname()[1]}")


@contextmanager
def unused_endpoint() -> Iterator[Endpoint]:
    """An address where nothing listens, and nothing else can begin to."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield Endpoint.parse(f"127.0.0.1:{bound.getsockname()[1]}")


@contextmanager
def running(serve_forever: Callable[[], object]) -> Iterator[None]:
    """Run a server's loop in a thread until it is shut down."""
    thread = threading.Thread(target=serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join(10)
    assert not thread.is_alive()
