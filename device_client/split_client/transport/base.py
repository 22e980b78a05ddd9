"""The interface of a transport: it carries one frame there and one frame back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias, runtime_checkable

Mode: TypeAlias = Literal["auto", "websocket", "http"]


class Transport(Protocol):
    """One connection. Not for use by several threads."""

    @property
    def name(self) -> str:
        """``websocket`` or ``http``."""

    def exchange(self, frame: bytes, timeout: float) -> bytes:
        """Send ``frame`` and return the frame that answers it, within ``timeout`` seconds.

        Raises ConnectionLost (the same frame may be sent again over a new connection) and
        ServerRefused.
        """

    def accept(self, max_frame: int) -> None:
        """Answers may have ``max_frame`` bytes from here on."""

    def close(self) -> None:
        """Release the connection; never raises."""


@runtime_checkable
class Stream(Protocol):
    """A transport on which a frame may be sent before the one before it is answered; answers come
    in the order of the frames.
    """

    def send(self, frame: bytes, timeout: float) -> None:
        """Send ``frame`` within ``timeout`` seconds. Raises ConnectionLost, ServerRefused."""

    def receive(self, timeout: float) -> bytes:
        """The next answer, within ``timeout`` seconds. Raises ConnectionLost, ServerRefused."""


class Traffic:
    """Bytes of payload that crossed the wire, and round trips."""

    __slots__ = ("exchanges", "received", "sent")

    def __init__(self) -> None:
        self.sent = 0
        self.received = 0
        self.exchanges = 0

    def count(self, sent: int, received: int) -> None:
        self.sent += sent
        self.received += received
        self.exchanges += 1


# Makes a transport within so many seconds.
Connect: TypeAlias = Callable[[Literal["websocket", "http"], float], Transport]
