"""Pings that show whether somebody else is answered: ``python -m scripts.bench.hostile.watch``.

Requests: ``start`` (ping over a connection of its own every ``period`` seconds), ``stop`` (the
times of all pings and the longest that the watch itself was kept from running, in seconds, and
what went wrong).
"""

from __future__ import annotations

import threading
import time
from typing import Any

from websockets.exceptions import WebSocketException
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from scripts.bench.hostile.messages import STREAM_PATH
from scripts.bench.workers import serve
from split_wire.codec import decode_server_message, encode_message
from split_wire.messages import SUBPROTOCOL, Ping, Pong

_PATIENCE = 60.0


class Watch:
    """Answers the requests."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._seconds: list[float] = []
        self._late = 0.0
        self._failures: list[str] = []
        self._thread: threading.Thread | None = None

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request by its ``op``."""
        if request.pop("op") == "start":
            self._thread = threading.Thread(target=self._watch, kwargs=request)
            self._thread.start()
            return {}
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        return {"seconds": self._seconds, "late": self._late, "failures": self._failures}

    def _watch(self, url: str, token: str, period: float) -> None:
        try:
            with connect(
                "ws" + url.removeprefix("http") + STREAM_PATH,
                subprotocols=[Subprotocol(SUBPROTOCOL)],
                additional_headers={"Authorization": f"Bearer {token}"},
                compression=None,
                proxy=None,
            ) as websocket:
                began = time.monotonic()
                while not self._stop.wait(period):
                    due, began = began + period, time.monotonic()
                    self._late = max(self._late, began - due)
                    websocket.send(encode_message(Ping()))
                    answer = websocket.recv(timeout=_PATIENCE)
                    self._seconds.append(time.monotonic() - began)
                    assert isinstance(answer, bytes)
                    assert isinstance(decode_server_message(answer, 1 << 16), Pong)
                    began = time.monotonic()
        except (OSError, WebSocketException, TimeoutError, AssertionError) as error:
            self._failures.append(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    serve(Watch().handle)
