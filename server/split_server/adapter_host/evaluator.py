"""The interface of the computation inside a worker, and its refusal of a device's bytes."""

from __future__ import annotations

from typing import Any, Protocol


class Refused(Exception):
    """A job's bytes are refused; ``code`` travels."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


class Evaluator(Protocol):
    """The computing side of a worker. Used by one thread."""

    def load(self, name: str, packing: dict[str, Any], a: bytes) -> None:
        """Prepare an adapter: the document of its packing, A float32 [r, H] little endian."""

    def key(self, session: bytes, name: str, nonces: tuple[bytes, bytes], public: bytes) -> None:
        """Begin a session with its key; ``nonces`` of host and device. Raises Refused."""

    def evaluate(self, session: bytes, query: bytes) -> bytes:
        """The reply to one query. Raises Refused."""

    def mask(self, session: bytes, query: bytes) -> bytes:
        """The reply to an encrypted r, and behind it s, packed, for one mask. Raises Refused."""

    def drop(self, session: bytes) -> None:
        """Forget a session; nothing for one that is unknown."""

    def idle(self) -> bool:
        """Do a piece of work for later, a few milliseconds long; False when there is none."""
