"""The kind of connection that carries the next frame."""

from __future__ import annotations

from collections.abc import Callable

from split_client.errors import UpgradeRefused
from split_client.transport.base import Connect, Mode, Transport
from split_client.transport.carriers.returning import Returning

# A WebSocket that opens and then loses every frame is as good as none.
_FRUITLESS_SOCKETS = 2


class Carriers:
    """Opens connections by ``connect`` within ``timeout`` seconds, and remembers which kind is
    worth trying. ``clock`` in seconds.
    """

    def __init__(
        self, connect: Connect, mode: Mode, timeout: float, clock: Callable[[], float]
    ) -> None:
        self._connect, self._mode, self._timeout = connect, mode, timeout
        self._returning = Returning(connect, timeout, clock)
        self._fruitless = 0
        self._ever_socket = False
        # Whether the server has proven itself, over whatever connection.
        self.ever_answered = False

    def open(self) -> Transport:
        """A new connection. Raises ServerUnreachable, ConnectionLost, UpgradeRefused and
        ServerRefused.
        """
        if self._mode != "auto":
            return self._connect(self._mode, self._timeout)
        if self._fruitless < _FRUITLESS_SOCKETS:
            try:
                return self._connect("websocket", self._timeout)
            except UpgradeRefused:
                pass
        return self._connect("http", self._timeout)

    def back(self, transport: Transport) -> Transport | None:
        """A WebSocket in place of ``transport``, where sockets have worked before and one does
        again; does not wait for it.
        """
        if self._mode != "auto" or not self._ever_socket or transport.name == "websocket":
            return None
        return self._returning.socket()

    def delivered(self, transport: Transport) -> None:
        """``transport`` has brought an answer."""
        self.ever_answered = True
        self._fruitless = 0
        if transport.name == "websocket":
            self._ever_socket = True
            self._returning.worked()

    def lost(self, transport: Transport, *, proven: bool) -> None:
        """``transport`` is gone; ``proven``: after it had brought an answer."""
        in_vain = transport.name == "websocket" and not proven
        self._fruitless = self._fruitless + 1 if in_vain else 0

    def close(self) -> None:
        """Nothing that is opened beside the present connection is wanted any more."""
        self._returning.close()
