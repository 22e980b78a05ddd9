"""Hundreds or thousands of damaged messages against a live server, the same ones every time.

While somebody else chats: every message has its answer within a second of processor time, no answer
is an internal error, and the chat's tokens are those of `generate`.
"""

from __future__ import annotations

import base64
import json
import os
import random
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from scripts.bench.hostile import mutations
from scripts.bench.websocket_frame import websocket_frame
from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import CONTENT_TYPE, Close, Failure, Open, Ping
from tests.end_to_end.bystander import undisturbed
from tests.end_to_end.lines import Session, line_to, some_rows
from tests.exhaustive import EXHAUSTIVE
from tests.patience import PATIENCE
from tests.server_process import FORWARD_PATH, STREAM_PATH, RunningServer, running_server

pytestmark = pytest.mark.slow
SECONDS = 1.0
FUZZER = {"Authorization": "Bearer fuzzer-has-this-token"}
CREDENTIALS = f"Host: localhost\r\nAuthorization: {FUZZER['Authorization']}\r\n"
HANDSHAKE = (
    f"GET {STREAM_PATH} HTTP/1.1\r\n{CREDENTIALS}Upgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Protocol: split.v1\r\n\r\n"
).encode()
CHATTER = {"Authorization": "Bearer chatter-has-this-token"}


@pytest.fixture(scope="module")
def server(tiny_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    tokens = tmp_path_factory.mktemp("tokens") / "tokens"
    tokens.write_text("fuzzer fuzzer-has-this-token\nchatter chatter-has-this-token\n")
    with running_server(
        tiny_path, token_file=tokens, max_sessions=40, max_sessions_per_principal=20
    ) as running:
        yield running


@pytest.fixture(autouse=True)
def chat(
    server: RunningServer, tiny_path: Path, caplog: pytest.LogCaptureFixture
) -> Iterator[None]:
    with undisturbed(server, tiny_path, **CHATTER):
        yield
    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert not errors


def share(count: int) -> int:
    """Of so many messages, as many as are sent."""
    return count if EXHAUSTIVE else count // 3


def frames(server: RunningServer, seed: int, count: int) -> Iterator[bytes]:
    """Damaged frames of sessions that are really open."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, nothing secret
    with line_to(server, "post", **FUZZER) as line:
        for number in range(count):
            if number % 25 == 0:
                session = Session(server, line)
                session.run(embeddings=some_rows(server, 4))
                whole = [
                    encode_message(session.message(embeddings=some_rows(server, rows)))
                    for rows in (1, 1, 3, 40)
                ]
                others = (Open(server.manifest), Ping(), Close("A" * 22))
                whole += [encode_message(message) for message in others]
            yield mutations.mutated_frame(rng, rng.choice(whole))


@contextmanager
def soon() -> Iterator[None]:
    """An answer comes within a second of all processors, the chat's share of them included.

    Whoever waits longer is waited for by a chat that goes on: to wait takes processor time too,
    and what other processes take of the machine does not count.
    """
    begun = time.process_time()
    yield
    assert time.process_time() - begun < SECONDS * (os.cpu_count() or 1)


def check(frame: bytes) -> str:
    """The code of an answer, or its type; nothing that a client could not read."""
    answer = decode_server_message(frame, 1 << 22)
    code = answer.code if isinstance(answer, Failure) else type(answer).__name__
    assert code != "internal_error"
    return code


def test_damaged_frames_over_a_websocket(server: RunningServer) -> None:
    seen: Counter[str] = Counter()
    with server.socket(additional_headers=FUZZER) as websocket:
        for frame in frames(server, 1, share(1500)):
            with soon():
                websocket.send(frame)
                answer = websocket.recv(timeout=PATIENCE)
            assert isinstance(answer, bytes)
            seen[check(answer)] += 1
    # The damage reaches every check, not only the first.
    assert {"malformed_frame", "malformed_message", "unknown_message", "wrong_dtype"} <= set(seen)
    assert {"unknown_session", "step_conflict", "prefix_mismatch"} <= set(seen)


def test_damaged_frames_by_post(server: RunningServer) -> None:
    with server.client(headers=FUZZER | {"Content-Type": CONTENT_TYPE}) as client:
        for frame in frames(server, 2, share(800)):
            with soon():
                response = client.post(FORWARD_PATH, content=frame)
            assert (check(response.content) in ("Opened", "Result", "Closed", "Pong")) == (
                response.status_code == 200
            )


def _request(server: RunningServer, rng: random.Random) -> dict[str, Any]:
    rows = base64.b64encode(some_rows(server, rng.randint(1, 3)).data).decode()
    forward = {
        "type": "forward",
        "hidden_states": rows,
        "session_id": rng.choice(("mine", "other", "")),
        "incremental": rng.random() < 0.5,
        "seq_len": 1,
        "hidden_dim": 64,
        "expert_name": "banking",
    }
    return rng.choice(
        (forward, forward, {"type": "config"}, {"type": "tokenize", "text": "a"}, {"type": "ping"})
    )


def originals(server: RunningServer, seed: int, count: int) -> Iterator[str | bytes]:
    """Damaged messages of the original protocol, text and binary."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, nothing secret
    for _ in range(count):
        values = _request(server, rng)
        if rng.random() < 0.5:
            yield mutations.mutated_text(rng, values)
        else:
            encoded = values.pop("hidden_states", "")
            yield mutations.mutated_binary(rng, values, base64.b64decode(encoded))


def test_damaged_messages_of_the_original_protocol_over_a_websocket(server: RunningServer) -> None:
    seen: Counter[str] = Counter()
    with server.socket(subprotocol=None, additional_headers=FUZZER) as websocket:
        for message in originals(server, 3, share(1000)):
            with soon():
                websocket.send(message)
                answer = websocket.recv(timeout=PATIENCE)
            reply = json.loads(answer) if isinstance(answer, str) else {"type": "result"}
            seen[reply.get("code", reply["type"])] += 1
    assert "internal_error" not in seen
    assert {"malformed_message", "wrong_shape", "unknown_message", "forward", "config"} <= set(seen)


def test_damaged_messages_of_the_original_protocol_by_post(server: RunningServer) -> None:
    with server.client(headers=FUZZER) as client:
        for message in originals(server, 4, share(600)):
            kind = "application/octet-stream" if isinstance(message, bytes) else "application/json"
            with soon():
                response = client.post(
                    FORWARD_PATH, content=message, headers={"Content-Type": kind}
                )
            assert response.status_code < 500, response.text
            if response.status_code >= 400:
                assert set(response.json()) == {"error"}


def requests(server: RunningServer, seed: int, count: int) -> Iterator[bytes]:
    """Damaged HTTP requests, handshakes and what follows them among them."""
    rng = random.Random(seed)  # noqa: S311 - repeatable, nothing secret
    frame = encode_message(Open(server.manifest))
    heads = (
        f"POST {FORWARD_PATH} HTTP/1.1\r\n{CREDENTIALS}Content-Type: {CONTENT_TYPE}\r\n"
        f"Content-Length: {len(frame)}\r\n\r\n",
        f"POST {FORWARD_PATH} HTTP/1.1\r\n{CREDENTIALS}Content-Type: {CONTENT_TYPE}\r\n"
        f"Transfer-Encoding: chunked\r\n\r\n{len(frame):x}\r\n",
        HANDSHAKE.decode() + "\x82\x7e",
        f"GET /weights/embedding.bin HTTP/1.1\r\n{CREDENTIALS}Range: bytes=100-200\r\n\r\n",
        f"GET /weights/manifest.json HTTP/1.1\r\n{CREDENTIALS}If-None-Match: *\r\n\r\n",
        f"POST /api/v1/split/verify HTTP/1.1\r\n{CREDENTIALS}Content-Length: 2\r\n\r\n{{}}",
    )
    for _ in range(count):
        head = rng.choice(heads).encode("latin-1")
        yield mutations.mutated_bytes(rng, head + frame + b"\r\n0\r\n\r\n")


def test_damaged_http_requests(server: RunningServer) -> None:
    for request in requests(server, 5, share(800)):
        with soon():
            answer = exchange(server, request)
        assert not answer or answer.startswith(b"HTTP/1.1 ")
        assert not answer.startswith(b"HTTP/1.1 5"), (request, answer)


def exchange(
    server: RunningServer, first: bytes, then: bytes = b"", patience: float = 0.02
) -> bytes:
    """Send ``first``, ``then`` after some answer if there is any, and read until the server closes.

    After ``patience`` the sender says that nothing more comes.
    """
    address, answer = ("127.0.0.1", server.port), bytearray()
    with suppress(ConnectionError), socket.create_connection(address, timeout=PATIENCE) as raw:
        raw.sendall(first)
        if then:
            answer += raw.recv(1 << 16)
            raw.sendall(then)
        for seconds in (patience, PATIENCE):
            raw.settimeout(seconds)
            with suppress(TimeoutError):
                while data := raw.recv(1 << 16):
                    answer += data
                return bytes(answer)
            raw.shutdown(socket.SHUT_WR)
        pytest.fail("the server keeps a connection that its peer has ended")
    return bytes(answer)


def test_damaged_websocket_frames(server: RunningServer) -> None:
    rng = random.Random(6)  # noqa: S311 - repeatable, nothing secret
    ping = websocket_frame(encode_message(Ping()))
    assert b"pong" in exchange(server, HANDSHAKE, ping, patience=SECONDS)
    for _ in range(share(300)):
        with soon():
            exchange(server, HANDSHAKE, mutations.mutated_bytes(rng, 2 * ping))
