"""A TCP proxy whose connections can die without a word, as they do when a device sleeps."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Self


class SilentProxy:
    """Forwards to ``port`` on this machine; nothing is closed before the end of the ``with``."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self._generation = 0
        self.connections = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def fall_silent(self) -> None:
        """The connections that there are carry nothing any more; new ones do."""
        self._generation += 1

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                self._sockets += [near, far]
                self.connections += 1
                for pair in ((near, far), (far, near)):
                    way = (*pair, self._generation)
                    threading.Thread(target=self._carry, args=way, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, generation: int) -> None:
        with contextlib.suppress(OSError):
            while (data := source.recv(65536)) or generation == self._generation:
                if generation == self._generation:
                    if not data:
                        target.shutdown(socket.SHUT_WR)
                        return
                    target.sendall(data)
                elif not data:
                    return
