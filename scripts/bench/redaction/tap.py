"""Frames as they go to the socket, and what a server reads in them by looking rows up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from split_client.model.ends import DeviceEnds
from split_client.transport.websocket import WebSocketTransport
from split_wire.codec import decode_client_message
from split_wire.messages import Step


@contextmanager
def tapped() -> Iterator[list[bytes]]:
    """All frames that are sent over WebSockets of this process meanwhile."""
    frames, send = list[bytes](), WebSocketTransport.send

    def kept(self: WebSocketTransport, frame: bytes, timeout: float) -> None:
        frames.append(bytes(frame))
        send(self, frame, timeout)

    WebSocketTransport.send = kept  # type: ignore[method-assign]
    try:
        yield frames
    finally:
        WebSocketTransport.send = send  # type: ignore[method-assign]


class Table:
    """The embedding table as the server has it: from a row's bytes back to its token."""

    def __init__(self, ends: DeviceEnds, rows: int) -> None:
        self._ends = ends
        self._by_row: dict[bytes, int] = {}
        for dtype in ("f32", "f16", "bf16"):
            for start in range(0, rows, 1024):
                ids = list(range(start, min(rows, start + 1024)))
                for token, row in zip(ids, ends.embedder.lookup(ids, dtype), strict=True):
                    self._by_row.setdefault(_key(row), token)

    def read(self, frames: list[bytes]) -> str:
        """The text of all rows in the frames, one behind the other."""
        # A character may have bytes in two steps.
        ids = list[int]()
        for frame in frames:
            message = decode_client_message(frame, len(frame))
            if isinstance(message, Step):
                rows = message.embeddings.to_f32()
                ids += [self._by_row[_key(row)] for row in rows]
        return self._ends.tokenizer.decode(ids, skip_special_tokens=False)


def _key(row: NDArray[np.float32]) -> bytes:
    return np.ascontiguousarray(row, dtype=np.float32).tobytes()
