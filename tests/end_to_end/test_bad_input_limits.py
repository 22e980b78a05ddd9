"""Too many bytes under way: one principal's flood is told to wait, the other one generates on."""

from __future__ import annotations

import base64
import json
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.frames import Close
from websockets.sync.client import ClientConnection

from split_wire.codec import encode_message
from split_wire.messages import Failure, Ping, Pong
from tests.end_to_end.bystander import undisturbed
from tests.end_to_end.lines import KINDS, Kind, Session, line_to, refusal, some_rows
from tests.patience import PATIENCE, until
from tests.server_process import FORWARD_PATH, RunningServer, running_server

FLOODER = {"Authorization": "Bearer flooder-has-this-token"}
OTHER = {"Authorization": "Bearer other-has-this-token"}


@pytest.fixture(scope="module")
def server(tiny_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text("flooder flooder-has-this-token\nother other-has-this-token\n")
    # As little as is allowed: one message of the largest size.
    with running_server(tiny_path, token_file=tokens, max_queued_bytes=1) as running:
        yield running


@pytest.fixture(autouse=True)
def other_session(server: RunningServer, tiny_path: Path) -> Iterator[None]:
    with undisturbed(server, tiny_path, **OTHER):
        yield


@contextmanager
def body_under_way(server: RunningServer, length: str) -> Iterator[None]:
    """A request of the flooder whose body does not come."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as raw:
        raw.sendall(
            f"POST {FORWARD_PATH} HTTP/1.1\r\nHost: localhost\r\n{length}\r\n"
            f"Authorization: {FLOODER['Authorization']}\r\nExpect: 100-continue\r\n\r\n".encode()
        )
        # The server asks for the body once it has counted it.
        assert raw.recv(100).startswith(b"HTTP/1.1 100")
        yield


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("announced", [True, False])
def test_bytes_beyond_the_limit_are_told_to_wait_and_served_later(
    announced: bool, kind: Kind, server: RunningServer
) -> None:
    length = f"Content-Length: {server.app.max_message_bytes - 1000}"
    with line_to(server, kind, **FLOODER) as line:
        session = Session(server, line)
        step = encode_message(session.message(embeddings=some_rows(server, 20)))
        with body_under_way(server, length if announced else "Transfer-Encoding: chunked"):
            answer = line.ask(step)
            assert isinstance(answer, Failure)
            assert (answer.code, answer.retryable) == ("overloaded", True)
            assert answer.retry_after == 1.0
            if announced:
                assert line.ask(encode_message(Ping())) == Pong()
        until_served(server)
        session.run(embeddings=some_rows(server, 20))


def until_served(server: RunningServer) -> None:
    """The server notices a closed connection a moment later."""
    with line_to(server, "post", **FLOODER) as line:
        until(lambda: refusal(line, b"SPL1" + bytes(5000)) != "overloaded")


def test_messages_of_the_original_protocol_count_too(server: RunningServer) -> None:
    rows = base64.b64encode(some_rows(server, 20).data).decode()
    message = json.dumps({"type": "forward", "hidden_states": rows})
    length = f"Content-Length: {server.app.max_message_bytes - 1000}"
    with server.socket(subprotocol=None, additional_headers=FLOODER) as websocket:
        with body_under_way(server, length):
            websocket.send(message)
            refused = json.loads(websocket.recv(timeout=PATIENCE))
            assert (refused["type"], refused["code"]) == ("error", "overloaded")
            assert refused["retry_after"] == 1.0
            with server.client(headers=FLOODER) as client:
                response = client.post(FORWARD_PATH, content=message)
            assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
            assert response.json()["error"]["code"] == "overloaded"
        until_served(server)
        websocket.send(message)
        assert json.loads(websocket.recv(timeout=PATIENCE))["type"] == "forward"


def _closed(websocket: ClientConnection) -> Close | None:
    """The goodbye of the server, if it has come."""
    with suppress(TimeoutError, ConnectionClosed):
        websocket.recv(timeout=0.05)
        pytest.fail("an answer to a message that did not end")
    return websocket.protocol.close_rcvd


def test_sockets_whose_messages_do_not_end_are_closed_before_they_fill_the_memory(
    server: RunningServer,
) -> None:
    part = bytes(server.app.max_message_bytes * 2 // 3)
    with ExitStack() as sockets:
        first, second = (
            sockets.enter_context(server.socket(additional_headers=FLOODER)) for _ in range(2)
        )
        for websocket in (first, second):
            # Fragments without an end: the next one never comes.
            websocket.socket.sendall(
                b"\x02\xff" + struct.pack(">Q", len(part)) + b"\0\0\0\0" + part
            )
        until(lambda: any(_closed(websocket) for websocket in (first, second)))
        (closed,) = filter(None, map(_closed, (first, second)))
        assert (closed.code, closed.reason) == (1013, "overloaded")
    with line_to(server, "websocket", **FLOODER) as line:
        Session(server, line).run()


def test_many_slow_bodies_are_few_that_are_read(server: RunningServer) -> None:
    """Each announces a third: the fourth is refused at once instead of being buffered."""
    length = f"Content-Length: {server.app.max_message_bytes // 3}"
    with ExitStack() as bodies, line_to(server, "post", **FLOODER) as line:
        for _ in range(3):
            bodies.enter_context(body_under_way(server, length))
        assert refusal(line, bytes(5000)) == "overloaded"
    until_served(server)
