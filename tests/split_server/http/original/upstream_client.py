"""A greedy client of the original protocol that uses nothing of ours."""

from __future__ import annotations

import array
import base64
import json
import struct
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import httpx
import numpy as np
from websockets.sync.client import ClientConnection, connect

STREAM = "/api/v1/split/stream"
FORWARD = "/api/v1/split/forward"


class TextSocket:
    """JSON over WebSocket. ``spelling``: the key of the rows."""

    def __init__(self, base: str, spelling: str = "hidden_states", **headers: str) -> None:
        self.spelling = spelling
        self.connection = connect(
            base.replace("http", "ws") + STREAM, additional_headers=headers, max_size=10 << 20
        )

    def __enter__(self) -> Self:
        self.socket: ClientConnection = self.connection.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.connection.__exit__(kind, error, trace)

    def ask(self, message: dict[str, Any] | str | bytes) -> dict[str, Any]:
        """Exchange one message as it is."""
        self.socket.send(json.dumps(message) if isinstance(message, dict) else message)
        return json.loads(self.socket.recv(timeout=30))

    def forward(self, rows: np.ndarray, **fields: Any) -> dict[str, Any]:
        """One step; the reply with its rows under ``rows``."""
        reply = self.ask({"type": "forward", self.spelling: encode(rows), **shape(rows), **fields})
        return with_rows(reply, self.spelling)


class BinarySocket(TextSocket):
    """Length-prefixed JSON and raw rows over WebSocket."""

    def forward(self, rows: np.ndarray, **fields: Any) -> dict[str, Any]:
        self.socket.send(pack({"type": "forward", **shape(rows), **fields}, rows))
        reply = self.socket.recv(timeout=30)
        return unpack(reply) if isinstance(reply, bytes) else json.loads(reply)


class Http:
    """One POST per step. ``binary``: raw rows instead of JSON."""

    def __init__(self, base: str, *, binary: bool = False, **headers: str) -> None:
        self.binary = binary
        self.client = httpx.Client(base_url=base, headers=headers, timeout=30)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def forward(self, rows: np.ndarray, **fields: Any) -> dict[str, Any]:
        """One step; the reply with its rows under ``rows``, its error under ``error``."""
        if self.binary:
            kind = {"Content-Type": "application/octet-stream"}
            body = pack({**shape(rows), **fields}, rows)
            response = self.client.post(FORWARD, content=body, headers=kind)
            return unpack(response.content) if response.is_success else response.json()
        message = {"hidden_states_b64": encode(rows), **shape(rows), **fields}
        response = self.client.post(FORWARD, json=message)
        reply: dict[str, Any] = response.json()
        return with_rows(reply, "hidden_states_b64") if response.is_success else reply


def generate(
    forward: Callable[..., dict[str, Any]],
    embed: Callable[[list[int]], np.ndarray],
    pick: Callable[[np.ndarray], int],
    prompt: list[int],
    count: int,
    stop: set[int],
    session: str = "upstream-1",
) -> list[int]:
    """The whole prompt first, then one row at a time; the reply says which row is the last."""
    generated: list[int] = []
    sent = prompt
    for step in range(count):
        reply = forward(
            embed(sent),
            expert_name="shared_attention",
            use_he=True,
            session_id=session,
            incremental=step > 0,
        )
        if reply.get("type") == "error" or "error" in reply:
            raise RuntimeError(str(reply))
        last = reply["rows"][0 if reply["incremental"] else len(sent) - 1]
        generated.append(pick(last))
        if generated[-1] in stop:
            break
        sent = generated[-1:]
    return generated


def encode(rows: np.ndarray) -> str:
    return base64.b64encode(rows.astype("<f4").tobytes()).decode()


def shape(rows: np.ndarray) -> dict[str, int]:
    return {"seq_len": rows.shape[0], "hidden_dim": rows.shape[1]}


def with_rows(reply: dict[str, Any], spelling: str) -> dict[str, Any]:
    key = "pre_activations_b64" if spelling == "hidden_states_b64" else "pre_activations"
    if key in reply:
        values = np.frombuffer(base64.b64decode(reply[key]), "<f4")
        reply["rows"] = values.reshape(-1, reply["hidden_dim"])
    return reply


def pack(values: dict[str, Any], rows: np.ndarray) -> bytes:
    text = json.dumps(values).encode()
    return struct.pack("<I", len(text)) + text + rows.astype("<f4").tobytes()


def unpack(data: bytes) -> dict[str, Any]:
    """As a browser reads it: a typed array refuses to begin between multiples of four."""
    (length,) = struct.unpack_from("<I", data)
    reply: dict[str, Any] = json.loads(data[4 : 4 + length])
    if (4 + length) % 4:
        raise ValueError("the rows are not aligned")
    values = array.array("f", data[4 + length :])
    reply["rows"] = np.array(values, np.float32).reshape(reply["seq_len"], reply["hidden_dim"])
    return reply
