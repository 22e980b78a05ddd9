"""A server that runs aside: in a thread of its own, while the main one loads what it serves.

Loading stays in the main thread, where an interrupt can end it.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from split_server.http.wire.graceful import GracefulServer

_WAKE_SECONDS = 0.5
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Aside:
    """``server`` on ``sockets``."""

    def __init__(self, server: GracefulServer, sockets: list[socket.socket]) -> None:
        self._server, self._sockets = server, sockets
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="server", daemon=True)

    def start(self) -> None:
        """Take connections."""
        self._thread.start()

    @property
    def ending(self) -> bool:
        """Whether a signal has come."""
        return self._server.should_exit

    def wait(self) -> None:
        """Until the server has ended. Raises what ended it, if that was no signal."""
        while self._thread.is_alive():
            # Handlers of signals run here, and the system may have woken another thread for one.
            self._thread.join(_WAKE_SECONDS)
        if self._failure is not None:
            raise self._failure

    def end(self) -> None:
        """Have it end, if it has not, and wait for that."""
        self._server.should_exit = True
        self._thread.join()

    def _run(self) -> None:
        try:
            self._server.run(self._sockets)
        # Whatever it is belongs to the main thread.
        except BaseException as error:  # noqa: BLE001
            self._failure = error


@contextmanager
def running_aside(server: GracefulServer, sockets: list[socket.socket]) -> Iterator[Aside]:
    """A server that signals to the process end, and the end of the ``with``. For the main thread
    alone.
    """
    before = {number: signal.signal(number, server.handle_exit) for number in _SIGNALS}
    aside = Aside(server, sockets)
    aside.start()
    try:
        yield aside
    finally:
        aside.end()
        for number, handler in before.items():
            signal.signal(number, handler)
