"""A transport that keeps exactly the frames that a server sees and sends."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from split_client.audit.errors import RecordingTooLarge
from split_client.errors import ClientError
from split_client.transport.base import Connect, Transport

MAX_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Exchange:
    """A frame up and the frame that answered it; empty where the answer never came.

    ``began`` and ``ended`` in seconds of a monotonic clock.
    """

    sent: bytes
    received: bytes
    began: float
    ended: float


class Recording:
    """The exchanges of one conversation in their order, ``MAX_BYTES`` of them at most."""

    def __init__(self) -> None:
        self._exchanges: list[Exchange] = []
        self._bytes = 0

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The exchanges recorded so far."""
        return tuple(self._exchanges)

    def add(self, exchange: Exchange) -> None:
        """Keep one exchange. Raises RecordingTooLarge."""
        self._bytes += len(exchange.sent) + len(exchange.received)
        if self._bytes > MAX_BYTES:
            raise RecordingTooLarge(MAX_BYTES)
        self._exchanges.append(exchange)


class Recorder:
    """The recording that is under way, into which recording transports put their frames."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._recording = Recording()

    def start(self) -> Recording:
        """Begin a recording and return it; it grows as frames are exchanged."""
        self._recording = Recording()
        return self._recording

    def wrap(self, connect: Connect) -> Connect:
        """``connect`` with every transport recorded."""

        def recorded(kind: Literal["websocket", "http"], timeout: float) -> Transport:
            return RecordingTransport(connect(kind, timeout), self)

        return recorded

    def now(self) -> float:
        """Seconds of the recorder's clock."""
        return self._clock()

    def keep(self, sent: bytes, received: bytes, began: float) -> None:
        """Add an exchange that ends now. Raises RecordingTooLarge."""
        self._recording.add(Exchange(sent, received, began, self.now()))


class RecordingTransport:
    """Passes frames on unchanged and gives them to ``recorder``."""

    def __init__(self, inner: Transport, recorder: Recorder) -> None:
        self._inner, self._recorder = inner, recorder

    @property
    def name(self) -> str:
        """That of the transport within."""
        return self._inner.name

    def exchange(self, frame: bytes, timeout: float) -> bytes:
        """As :meth:`Transport.exchange`; a frame without an answer is recorded as well."""
        began = self._recorder.now()
        try:
            answer = self._inner.exchange(frame, timeout)
        except ClientError:
            self._recorder.keep(frame, b"", began)
            raise
        self._recorder.keep(frame, answer, began)
        return answer

    def accept(self, max_frame: int) -> None:
        """Answers may have ``max_frame`` bytes from here on."""
        self._inner.accept(max_frame)

    def close(self) -> None:
        """Release the connection."""
        self._inner.close()
