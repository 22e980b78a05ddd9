"""Sends hostile messages and reads what comes back: ``python -m scripts.bench.hostile.sender``.

A request names a kind, how many and a seed; it is answered by the answers counted by their codes,
the longest time of one, and what no server may answer.
"""

from __future__ import annotations

import json
import random
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from scripts.bench.hostile import messages
from scripts.bench.hostile.messages import FORWARD_PATH, STREAM_PATH, Target
from scripts.bench.workers import serve
from split_wire.codec import decode_server_message
from split_wire.messages import CONTENT_TYPE, SUBPROTOCOL, Failure

_LARGEST = 1 << 22
# No answer within it is a hang; a generation that strange limits made long is hung up on.
_HANG_SECONDS, _GENERATION_SECONDS = 10.0, 2.0
# A sender of raw bytes says after so long that nothing more comes.
_RAW_PATIENCE = 0.02
_FAULTS = frozenset({"internal_error", "internal", "server_error", "status 500"})


@dataclass(slots=True)
class Answers:
    """``codes``: how often what came; ``longest`` seconds; ``faults`` as text."""

    codes: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0
    faults: list[str] = field(default_factory=list)

    def take(self, code: str, began: float, message: object) -> None:
        """Count one."""
        self.codes[code] += 1
        self.longest = max(self.longest, time.monotonic() - began)
        if code.lower() in _FAULTS or code.startswith("hang"):
            self.faults.append(f"{code} after {message!r:.300}")


class Sender:
    """Everything that one thread sends to ``target``."""

    def __init__(self, target: Target, rng: random.Random) -> None:
        self._target, self._rng = target, rng
        self.answers = Answers()

    def send(self, kind: messages.Kind, count: int) -> None:
        """Send ``count`` messages of a kind, one after the other."""
        target, rng = self._target, self._rng
        match kind:
            case "split.v1 frames":
                self._over_a_socket(messages.frames(target, rng, count), SUBPROTOCOL)
            case "split.v1 frames by POST":
                posted = ((CONTENT_TYPE, frame) for frame in messages.frames(target, rng, count))
                self._posted(posted, _code_of_frame)
            case "original messages":
                self._over_a_socket(messages.originals(target, rng, count), None)
            case "original messages by POST":
                texts = messages.originals(target, rng, count)
                self._posted((_typed(one) for one in texts), _code_of_json)
            case "JSON of text APIs":
                self._asked(messages.bodies(target, rng, count))
            case "HTTP requests":
                for request in messages.requests(target, rng, count):
                    self._raw(request, b"")
            case "WebSocket bytes":
                for data in messages.socket_bytes(rng, count):
                    self._raw(messages.handshake(target), data)

    def _over_a_socket(self, sent: Iterator[str | bytes], subprotocol: str | None) -> None:
        """Over one WebSocket after the other, as they are closed."""
        while self._until_closed(sent, subprotocol):
            pass

    def _until_closed(self, sent: Iterator[str | bytes], subprotocol: str | None) -> bool:
        """Whether there may be more to send than this WebSocket has taken."""
        with connect(
            "ws" + self._target.url.removeprefix("http") + STREAM_PATH,
            subprotocols=None if subprotocol is None else [Subprotocol(subprotocol)],
            additional_headers=self._target.headers,
            compression=None,
            max_size=None,
            proxy=None,
            open_timeout=_HANG_SECONDS,
        ) as websocket:
            for message in sent:
                began = time.monotonic()
                try:
                    websocket.send(message)
                    code = _code_of(websocket.recv(timeout=_HANG_SECONDS))
                except ConnectionClosed as closed:
                    status = closed.rcvd.code if closed.rcvd else 1006
                    self.answers.take(f"closed with {status}", began, message)
                    return True
                except TimeoutError:
                    self.answers.take("hang", began, message)
                    return True
                self.answers.take(code, began, message)
        return False

    def _posted(
        self, sent: Iterable[tuple[str, bytes]], code_of: Callable[[httpx.Response], str]
    ) -> None:
        with self._client(_HANG_SECONDS) as client:
            for content_type, body in sent:
                self._ask(client, FORWARD_PATH, content_type, body, code_of)

    def _asked(self, sent: Iterable[tuple[str, bytes]]) -> None:
        with self._client(_GENERATION_SECONDS) as client:
            for path, body in sent:
                self._ask(client, path, "application/json", body, _code_of_json)

    def _client(self, patience: float) -> httpx.Client:
        url = self._target.url
        return httpx.Client(
            base_url=url, trust_env=False, timeout=patience, headers=self._target.headers
        )

    def _ask(
        self,
        client: httpx.Client,
        path: str,
        content_type: str,
        body: bytes,
        code_of: Callable[[httpx.Response], str],
    ) -> None:
        began = time.monotonic()
        try:
            code = code_of(client.post(path, content=body, headers={"Content-Type": content_type}))
        except httpx.ReadTimeout:
            code = "hang" if path == FORWARD_PATH else "hung up on a long reply"
        except httpx.TransportError as error:
            code = f"connection: {type(error).__name__}"
        self.answers.take(code, began, (path, body))

    def _raw(self, first: bytes, then: bytes) -> None:
        """Send bytes over a connection of their own and read until the server ends it."""
        began, answer, ended = time.monotonic(), bytearray(), False
        with suppress(ConnectionError), closing(self._connection()) as raw:
            raw.sendall(first)
            if then:
                answer += raw.recv(1 << 16)
                raw.sendall(then)
            for patience in (_RAW_PATIENCE, _HANG_SECONDS):
                raw.settimeout(patience)
                with suppress(TimeoutError):
                    while data := raw.recv(1 << 16):
                        answer += data
                    ended = True
                    break
                raw.shutdown(socket.SHUT_WR)
            if not ended:
                self.answers.take("hang: the connection stays", began, first + then)
                return
        self.answers.take(_code_of_raw(bytes(answer)), began, first + then)

    def _connection(self) -> socket.socket:
        address = urlsplit(self._target.url)
        return socket.create_connection((address.hostname, address.port), _HANG_SECONDS)


def _typed(message: str | bytes) -> tuple[str, bytes]:
    if isinstance(message, bytes):
        return "application/octet-stream", message
    return "application/json", message.encode("utf-8", "surrogatepass")


def _code_of(answer: str | bytes) -> str:
    """Of an answer over a WebSocket."""
    if isinstance(answer, bytes):
        with suppress(Exception):
            return _code_of_message(answer)
        return "binary result"
    reply = json.loads(answer)
    return str(reply.get("code", reply["type"]))


def _code_of_message(frame: bytes) -> str:
    message = decode_server_message(frame, _LARGEST)
    return message.code if isinstance(message, Failure) else type(message).__name__


def _code_of_frame(response: httpx.Response) -> str:
    try:
        return _code_of_message(response.content)
    except Exception:  # noqa: BLE001 - whatever it is, it is not a frame
        return f"status {response.status_code}"


def _code_of_json(response: httpx.Response) -> str:
    return f"status {response.status_code}"


def _code_of_raw(answer: bytes) -> str:
    if not answer:
        return "closed without a word"
    if not answer.startswith(b"HTTP/1.1 "):
        return "hang: not HTTP"
    return f"status {answer[9:12].decode('latin-1')}"


def handle(request: dict[str, Any]) -> dict[str, Any]:
    """Send ``count`` messages of a ``kind``."""
    sender = Sender(Target(**request["target"]), random.Random(request["seed"]))
    sender.send(request["kind"], request["count"])
    answers = sender.answers
    return {"codes": answers.codes, "longest": answers.longest, "faults": answers.faults}


if __name__ == "__main__":
    serve(handle)
