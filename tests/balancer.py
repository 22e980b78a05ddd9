"""A balancer before several servers of this machine, which chooses by the routing id."""

from __future__ import annotations

import contextlib
import hashlib
import socket
import threading
from dataclasses import dataclass
from itertools import count
from typing import Self
from urllib.parse import parse_qsl, urlsplit

_HEAD_END = b"\r\n\r\n"
_LONGEST_HEAD = 65536


@dataclass(frozen=True)
class Asked:
    """One request: ``s`` is its routing id, ``port`` the server that took it, None: nobody."""

    path: str
    query: str
    s: str | None
    port: int | None


class Balancer:
    """One request or WebSocket a connection; by ``s`` the same server as long as it listens, any
    server without it. Where none listens the answer is ``status`` in a page of its own.
    """

    def __init__(self, *ports: int, status: int = 503) -> None:
        self.ports: tuple[int, ...] = ports
        self.status = status
        # Whether upgrades are passed on.
        self.upgrades = True
        self.asked: list[Asked] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._turns = count()
        self._open: set[socket.socket] = set()

    def order(self, s: str | None) -> list[int]:
        """The servers that are tried for ``s`` (rendezvous hashing), one after the other."""
        key = f"{next(self._turns)} of no device" if s is None else s
        mark = lambda port: hashlib.sha256(f"{port} {key}".encode()).digest()  # noqa: E731
        return sorted(self.ports, key=mark)

    def frames(self) -> list[Asked]:
        """Requests that carry frames."""
        return [one for one in list(self.asked) if one.path.startswith("/api/v1/split/")]

    def cut(self) -> None:
        """Close what is open, as a balancer that is started again."""
        for one in list(self._open):
            _end(one)

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        self._open.add(near)
        try:
            with near, contextlib.suppress(OSError, IndexError):
                self._pass(near)
        finally:
            self._open.discard(near)

    def _pass(self, near: socket.socket) -> None:
        head, rest = _head(near)
        target = urlsplit(head.split(b" ", 2)[1].decode("latin-1"))
        s = dict(parse_qsl(target.query)).get("s")
        upgrade = b"\r\nupgrade:" in head.lower()
        far = None if upgrade and not self.upgrades else self._reached(s)
        port = None if far is None else far.getpeername()[1]
        self.asked.append(Asked(target.path, target.query, s, port))
        if far is None:
            near.sendall(_page(self.status))
            return
        with far:
            far.sendall((head if upgrade else _closing(head)) + rest)
            threading.Thread(target=_copy, args=(near, far), daemon=True).start()
            _copy(far, near)

    def _reached(self, s: str | None) -> socket.socket | None:
        for port in self.order(s):
            with contextlib.suppress(OSError):
                return socket.create_connection(("127.0.0.1", port), 5)
        return None


def _head(near: socket.socket) -> tuple[bytes, bytes]:
    data = b""
    while _HEAD_END not in data:
        part = near.recv(65536)
        if not part or len(data) > _LONGEST_HEAD:
            raise ConnectionError("no head")
        data += part
    head, end, rest = data.partition(_HEAD_END)
    return head + end, rest


def _closing(head: bytes) -> bytes:
    """The head of a request whose connection ends with its answer."""
    lines = head.removesuffix(_HEAD_END).split(b"\r\n")
    kept = [line for line in lines if not line.lower().startswith(b"connection:")]
    return b"\r\n".join([*kept, b"Connection: close"]) + _HEAD_END


def _page(status: int) -> bytes:
    body = b"<html>nobody is there</html>"
    head = f"HTTP/1.1 {status} Nobody\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    _end(source, target)


def _end(*sockets: socket.socket) -> None:
    for one in sockets:
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
