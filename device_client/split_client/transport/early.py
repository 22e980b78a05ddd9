"""A WebSocket whose handshake runs while other things are done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Literal

from split_client.errors import ClientError
from split_client.transport.base import Connect, Transport

# A server may hang up on a socket that stays silent for longer.
_FRESH = 5.0


class EarlySocket:
    """``connect`` is called with ``timeout`` on a thread at once; ``clock`` in seconds."""

    def __init__(
        self, connect: Connect, timeout: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._connect, self._timeout, self._clock = connect, timeout, clock
        self._lock = threading.Lock()
        self._transport: Transport | None = None
        self._error: ClientError | None = None
        self._done_at = 0.0
        self._given_up = False
        self._thread = threading.Thread(target=self._run, name="early socket", daemon=True)
        self._thread.start()

    @property
    def done(self) -> bool:
        """Whether :meth:`take` returns at once."""
        return not self._thread.is_alive()

    def take(self) -> Transport | None:
        """The connection, once; None where it was taken, or has been there for too long.

        Waits for the handshake, and raises what it raised.
        """
        self._thread.join()
        with self._lock:
            transport, self._transport = self._transport, None
            error, self._error = self._error, None
            fresh = self._clock() - self._done_at < _FRESH
        if error is not None and fresh:
            raise error
        if transport is not None and not fresh:
            transport.close()
            return None
        return transport

    def close(self) -> None:
        """Nobody takes it any more. Does not wait."""
        with self._lock:
            self._given_up = True
            transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()

    def _run(self) -> None:
        try:
            transport = self._connect("websocket", self._timeout)
        except ClientError as error:
            self._error, self._done_at = error, self._clock()
            return
        # Whatever else it is, whoever connects in its place is told.
        except Exception:  # noqa: BLE001
            return
        with self._lock:
            self._done_at = self._clock()
            if not self._given_up:
                self._transport = transport
                return
        transport.close()


def begun_early(connect: Connect, early: EarlySocket, max_frame: int) -> Connect:
    """``connect``, whose first WebSocket is the one that was begun ``early``; its answers may have
    ``max_frame`` bytes.
    """

    def taken(kind: Literal["websocket", "http"], timeout: float) -> Transport:
        transport = early.take() if kind == "websocket" else None
        if transport is None:
            return connect(kind, timeout)
        transport.accept(max_frame)
        return transport

    return taken
