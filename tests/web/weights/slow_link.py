"""A TCP proxy that lets so many bytes of answers pass, and then none before it is told to."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Self

_STEP = 16 << 10


class SlowLink:
    """Forwards to ``port`` on this machine; ``passed``: bytes of answers so far."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets: list[socket.socket] = []
        self._turn = threading.Condition()
        self._room: int | None = None
        self.passed = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def let(self, count: int | None) -> None:
        """Let ``count`` more bytes of answers pass; None: all of them."""
        with self._turn:
            self._room = count
            self._turn.notify_all()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.let(None)
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
                for carry, pair in ((self._ask, (near, far)), (self._answer, (far, near))):
                    threading.Thread(target=carry, args=pair, daemon=True).start()

    def _ask(self, near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := near.recv(_STEP):
                far.sendall(data)
            far.shutdown(socket.SHUT_RDWR)

    def _answer(self, far: socket.socket, near: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := far.recv(self._allowed()):
                near.sendall(data)
                with self._turn:
                    self.passed += len(data)
                    if self._room is not None:
                        self._room = max(0, self._room - len(data))
            near.shutdown(socket.SHUT_WR)

    def _allowed(self) -> int:
        """How many bytes may pass; waits until there are some."""
        with self._turn:
            self._turn.wait_for(lambda: self._room != 0)
            return _STEP if self._room is None else min(_STEP, self._room)
