"""TCP proxies: one breaks connections when it is told to, one watches what passes."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import Counter
from collections.abc import Callable
from typing import Self


class CuttingProxy:
    """Forwards to ``port`` on this machine. ``cut_after`` arms it once.

    ``freeze`` is what a phone's connections are after sleep: open, and nothing passes.
    """

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._budget: int | None = None
        self._thawed_from = 0
        self.connections = 0
        self.cuts = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut_after(self, count: int) -> None:
        """Let ``count`` more bytes of answers pass, then reset the connection they came on."""
        with self._lock:
            self._budget = count

    def freeze(self) -> None:
        """Swallow what travels on the connections there are; new ones work."""
        with self._lock:
            self._thawed_from = self.connections

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                near.close()
                continue
            number = self.connections
            self.connections += 1
            threading.Thread(target=self._up, args=(near, far, number), daemon=True).start()
            threading.Thread(target=self._down, args=(far, near, number), daemon=True).start()

    def _up(self, near: socket.socket, far: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError):
            while data := near.recv(65536):
                self._asked(number, data)
                if number >= self._thawed_from:
                    far.sendall(data)
        self._end(near, far)

    def _down(self, far: socket.socket, near: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError):
            while data := far.recv(65536):
                if number < self._thawed_from:
                    continue
                passing, cut = self._within_budget(data)
                self._answered(number)
                near.sendall(passing)
                if cut:
                    break
        self._end(near, far)

    def _within_budget(self, data: bytes) -> tuple[bytes, bool]:
        with self._lock:
            if self._budget is None:
                return data, False
            passing = data[: self._budget]
            self._budget -= len(passing)
            if len(passing) == len(data):
                return data, False
            self._budget = None
            self.cuts += 1
            return passing, True

    @staticmethod
    def _end(*sockets: socket.socket) -> None:
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _asked(self, number: int, data: bytes) -> None:
        """Data of a client is about to pass on that connection."""

    def _answered(self, number: int) -> None:
        """Data of the server is about to pass on that connection."""


class WatchingProxy(CuttingProxy):
    """``trips``: how often each connection waited for an answer, its making included; ``first``:
    the first bytes of each; ``hold``: is called with these before each answer.
    """

    def __init__(self, port: int, hold: Callable[[bytes], None] = lambda _: None) -> None:
        super().__init__(port)
        self.first: dict[int, bytes] = {}
        self.trips: Counter[int] = Counter()
        self._hold = hold
        self._waiting: set[int] = set()

    def of(self, path: bytes) -> int:
        """The number of the connection that asked for ``path``."""
        return next(number for number, data in self.first.items() if path in data)

    def _asked(self, number: int, data: bytes) -> None:
        if number not in self.first:
            self.first[number] = data
            self.trips[number] += 1
        self._waiting.add(number)

    def _answered(self, number: int) -> None:
        self._hold(self.first.get(number, b""))
        if number in self._waiting:
            self._waiting.discard(number)
            self.trips[number] += 1
