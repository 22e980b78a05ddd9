"""The way back to WebSockets for a device that fell to HTTP while nobody answered.

HTTP that works is never lost, so that without this a chat would stay on it for good. A socket is
opened beside it from time to time, on a thread, and has to answer a ping before it is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from split_client.errors import ClientError
from split_client.transport.base import Connect, Transport
from split_client.transport.early import EarlySocket
from split_wire.codec import encode_message
from split_wire.messages import Ping

# Seconds between two attempts, twice as many each time; with the time that one may take they stay
# below a minute.
FIRST, LONGEST = 10.0, 40.0


class Returning:
    """``connect`` is called with ``timeout`` on a thread; ``clock`` in seconds."""

    def __init__(self, connect: Connect, timeout: float, clock: Callable[[], float]) -> None:
        self._connect = _answering(connect)
        self._timeout, self._clock = timeout, clock
        self._delay = FIRST
        self._due: float | None = None
        self._attempt: EarlySocket | None = None

    def socket(self) -> Transport | None:
        """A WebSocket that has answered, None where there is none yet; asked before each frame that
        goes over HTTP. Does not wait.
        """
        now = self._clock()
        if self._attempt is None:
            if self._due is None:
                self._due = now + self._delay
            elif now >= self._due:
                self._attempt = EarlySocket(self._connect, self._timeout, self._clock)
            return None
        return self._taken(self._attempt) if self._attempt.done else None

    def worked(self) -> None:
        """A WebSocket carries frames."""
        self._delay, self._due = FIRST, None

    def close(self) -> None:
        """An attempt that is under way is given up, and the next one waits for its time."""
        attempt, self._attempt, self._due = self._attempt, None, None
        if attempt is not None:
            attempt.close()

    def _taken(self, attempt: EarlySocket) -> Transport | None:
        self._attempt = None
        self._delay = min(2 * self._delay, LONGEST)
        self._due = self._clock() + self._delay
        with suppress(ClientError):
            return attempt.take()
        return None


def _answering(connect: Connect) -> Connect:
    """``connect``, whose transports have answered a ping: a proxy may let a handshake through and
    nothing after it.
    """

    def answering(kind: Literal["websocket", "http"], timeout: float) -> Transport:
        transport = connect(kind, timeout)
        try:
            transport.exchange(encode_message(Ping()), timeout)
        except BaseException:
            transport.close()
            raise
        return transport

    return answering
