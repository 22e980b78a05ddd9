"""The two ways a `split.v1` frame reaches a server, for tests that send one by hand."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, Protocol, TypeAlias

import httpx
import numpy as np
from websockets.sync.client import ClientConnection

from split_wire import errors
from split_wire.codec import decode_server_message, encode_message
from split_wire.digest import PrefixChain
from split_wire.messages import CONTENT_TYPE, Failure, Open, Opened, Result, ServerMessage, Step
from split_wire.tensor import Tensor
from tests.patience import PATIENCE
from tests.server_process import FORWARD_PATH, RunningServer

Kind: TypeAlias = Literal["websocket", "post"]
KINDS: tuple[Kind, ...] = ("websocket", "post")
_LARGEST = 1 << 26
STATUS = {
    error.code: error.status
    for error in vars(errors).values()
    if isinstance(error, type) and issubclass(error, errors.SplitError)
}


class Line(Protocol):
    """Carries a frame there and its answer back."""

    def ask(self, frame: bytes) -> ServerMessage: ...


class SocketLine:
    def __init__(self, websocket: ClientConnection) -> None:
        self.websocket = websocket

    def ask(self, frame: bytes) -> ServerMessage:
        self.websocket.send(frame)
        answer = self.websocket.recv(timeout=PATIENCE)
        assert isinstance(answer, bytes)
        return decode_server_message(answer, _LARGEST)


class PostLine:
    """Checks on the way that HTTP says the same as the frame."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def ask(self, frame: bytes) -> ServerMessage:
        response = self.client.post(
            FORWARD_PATH, content=frame, headers={"Content-Type": CONTENT_TYPE}
        )
        assert response.headers["Content-Type"] == CONTENT_TYPE
        message = decode_server_message(response.content, _LARGEST)
        status, told = 200, None
        if isinstance(message, Failure):
            status, after = STATUS[message.code], message.retry_after
            told = None if after is None else str(max(1, math.ceil(after)))
        assert response.status_code == status
        assert response.headers.get("Retry-After") == told
        return message


@contextmanager
def line_to(server: RunningServer, kind: Kind, **headers: str) -> Iterator[Line]:
    """A line of either kind."""
    if kind == "websocket":
        with server.socket(additional_headers=headers) as websocket:
            yield SocketLine(websocket)
    else:
        with server.client(headers=headers) as client:
            yield PostLine(client)


def refusal(line: Line, frame: bytes) -> str:
    """The code with which ``frame`` is refused; its message says something."""
    answer = line.ask(frame)
    assert isinstance(answer, Failure), answer
    assert answer.message
    return answer.code


def some_rows(server: RunningServer, count: int = 1, width: int | None = None) -> Tensor:
    """Embeddings [count, width], by default as wide as the model."""
    width = width or server.parts.steps.info.hidden_size
    values = np.linspace(-1, 1, count * width, dtype=np.float32).reshape(count, width)
    return Tensor.from_f32(values, "f32")


class Session:
    """An open session whose steps are written by hand; every field of a step can be set."""

    def __init__(self, server: RunningServer, line: Line) -> None:
        self.server, self.line = server, line
        opened = line.ask(encode_message(Open(server.manifest)))
        assert isinstance(opened, Opened), opened
        self.key = opened.session
        self.steps = 0
        self._chain = PrefixChain(server.manifest)

    def message(self, **changes: Any) -> Step:
        """The next step: one row at the end of the cache, with ``changes``."""
        start = len(self._chain)
        fields: dict[str, Any] = {
            "session": self.key,
            "step": self.steps + 1,
            "start": start,
            "prefix": self._chain.at(min(changes.get("start", start), start)),
            "embeddings": some_rows(self.server),
        }
        return Step(**(fields | changes))

    def run(self, **changes: Any) -> Result:
        """Send a step that must succeed."""
        step = self.message(**changes)
        answer = self.line.ask(encode_message(step))
        assert isinstance(answer, Result), answer
        self._chain.replace(step.start, self._chain.following(step.start, step.embeddings))
        self.steps += 1
        assert answer.cached == len(self._chain)
        return answer

    def refused(self, **changes: Any) -> str:
        """The code with which a step is refused."""
        return refusal(self.line, encode_message(self.message(**changes)))
