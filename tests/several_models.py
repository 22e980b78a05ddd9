"""Several models at one address: real servers behind a proxy that speaks of them as one would."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
from collections.abc import Mapping
from typing import Any, Self

from tests.server_process import RunningServer

_HEAD = re.compile(rb"(GET|POST|DELETE) (?:/m/([^/ ]+))?(/[^ ]*) HTTP/1\.1\r\n")
_LIST = b"/api/v1/models"


class SeveralModels:
    """``servers`` by the names of their models, the first of them at the root.

    ``loading`` and ``busy``: how many more requests of a model are refused so, by name; ``asked``:
    the names that requests had, "" at the root; ``tokens``: the bearer tokens that came.
    """

    def __init__(self, servers: Mapping[str, RunningServer], *, lists: bool = True) -> None:
        self.servers, self.lists = dict(servers), lists
        self.loading: dict[str, int] = {}
        self.busy: dict[str, int] = {}
        self.states: dict[str, str] = {}
        self.asked: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

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
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        with near, contextlib.suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                part = near.recv(65536)
                if not part:
                    return
                head += part
            found = _HEAD.match(head)
            assert found is not None, head[:80]
            name = (found[2] or b"").decode()
            answer = self._answer(name, found[3])
            if answer is not None:
                near.sendall(answer)
                return
            self.asked.append(name)
            server = self.servers[name or next(iter(self.servers))]
            far = socket.create_connection(("127.0.0.1", server.port))
            with far:
                far.sendall(_rewritten(head, found))
                back = threading.Thread(target=_copy, args=(far, near), daemon=True)
                back.start()
                _copy(near, far)
                back.join()

    def _answer(self, name: str, path: bytes) -> bytes | None:
        if not name and path == _LIST and self.lists:
            return _json(200, {"models": self._entries(), "operator": False, "version": 1})
        if not self.lists and (name or path == _LIST):
            return _json(404, _error("not_found", "there is nothing here"))
        if name and name not in self.servers:
            there = ", ".join(self.servers)
            return _json(404, _error("unknown_model", f"model {name!r} not found; served: {there}"))
        for counts, code, words in (
            (self.loading, "model_loading", f"model {name!r} is being loaded; try again"),
            (self.busy, "model_busy", f"model {name!r}: others in use hold the memory"),
        ):
            if counts.get(name, 0) > 0 and not path.startswith(b"/api/v1/split/stream"):
                counts[name] -= 1
                return _json(503, _error(code, words, retryable=True), b"Retry-After: 1\r\n")
        return None

    def _entries(self) -> list[dict[str, Any]]:
        first = next(iter(self.servers))
        return [
            {
                "name": name,
                "path": f"/m/{name}",
                "first": name == first,
                "state": self.states.get(name, "loaded"),
                "manifest": server.manifest,
                "family": "llama",
                "layers": 2,
                "context": 128,
                "dtype": "f32",
                "bytes": 1000,
                "seconds": 3.5,
            }
            for name, server in self.servers.items()
        ]


def _rewritten(head: bytes, found: re.Match[bytes]) -> bytes:
    """For a server of one model; a connection has one request, but for what is upgraded."""
    line = found[1] + b" " + found[3] + b" HTTP/1.1\r\n"
    rest = head[found.end() :]
    if b"upgrade: websocket" not in rest.lower():
        rest = re.sub(rb"(?i)connection: [^\r]*\r\n", b"", rest)
        rest = b"Connection: close\r\n" + rest
    return line + rest


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while part := source.recv(65536):
            target.sendall(part)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _error(code: str, message: str, *, retryable: bool = False) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "retryable": retryable}}


def _json(status: int, document: dict[str, Any], headers: bytes = b"") -> bytes:
    body = json.dumps(document).encode()
    lines = f"HTTP/1.1 {status} x\r\nContent-Type: application/json\r\n".encode() + headers
    return lines + f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
