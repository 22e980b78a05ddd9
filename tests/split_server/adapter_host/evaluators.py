"""Evaluators that fail on purpose, run in real worker processes."""

from __future__ import annotations

import os
import signal
from typing import Any

from split_he.layout import Packing
from split_he.wire import reply_bytes
from split_server.adapter_host.evaluator import Refused


class Deeds:
    """A query's first byte says what to do; any other is answered with the process's id."""

    def __init__(self, blind_bytes: int) -> None:
        self._replies: dict[str, int] = {}
        self._sessions: dict[bytes, str] = {}
        self._kept: list[bytes] = []

    def load(self, name: str, packing: dict[str, Any], a: bytes) -> None:
        self._replies[name] = reply_bytes(Packing.parse(packing))

    def key(self, session: bytes, name: str, nonces: tuple[bytes, bytes], public: bytes) -> None:
        if public[:1] == b"x":
            raise Refused("malformed_key")
        self._sessions[session] = name

    def evaluate(self, session: bytes, query: bytes) -> bytes:
        size = self._replies[self._sessions[session]]
        match query[:1]:
            case b"A":
                os.abort()
            case b"K":
                os.kill(os.getpid(), signal.SIGKILL)
            case b"S":
                os.kill(os.getpid(), signal.SIGSTOP)
            case b"L":
                while True:
                    pass
            case b"M":
                while True:
                    self._kept.append(bytes(64 << 20))
            case b"E":
                raise RuntimeError("it fails")
            case b"R":
                raise Refused("malformed_ciphertext")
            case b"0":
                return b"short"
            case b"C":
                return len(self._sessions).to_bytes(4, "little").ljust(size, b"\0")
        return os.getpid().to_bytes(4, "little").ljust(size, b"\0")

    def drop(self, session: bytes) -> None:
        self._sessions.pop(session, None)

    def idle(self) -> bool:
        return False
