"""HTTP exchanges that end in time, however slowly a server drips its answer.

The timeouts of the HTTP library are those of single reads, and a server that sends a byte a second
meets all of them for ever.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

_CONNECTED = ("connect_tcp.complete", "start_tls.complete")


class TimedClient:
    """``client`` for one exchange at a time."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        # The connection of the latest exchange, as the library knows it.
        self._stream: Any = None

    @contextmanager
    def exchange(self, request: httpx.Request, seconds: float) -> Iterator[httpx.Response]:
        """The answer to ``request``, all of which has to be read within ``seconds``.

        Raises httpx.HTTPError, which is httpx.ReadTimeout when the time is over.
        """
        request.extensions = {**request.extensions, "trace": self._trace}
        over = threading.Event()
        timer = threading.Timer(seconds, self._cut, (over,))
        timer.daemon = True
        timer.start()
        try:
            response = self.client.send(request, stream=True)
            try:
                yield response
            finally:
                response.close()
        except httpx.HTTPError as error:
            if over.is_set():
                raise httpx.ReadTimeout(f"no whole answer within {seconds:g} s") from error
            raise
        finally:
            timer.cancel()

    def close(self) -> None:
        """Close the connection."""
        self.client.close()

    def _trace(self, event: str, details: dict[str, Any]) -> None:
        if event.endswith(_CONNECTED):
            self._stream = details["return_value"]

    def _cut(self, over: threading.Event) -> None:
        """End the connection under whoever reads from it."""
        over.set()
        found = None if self._stream is None else self._stream.get_extra_info("socket")
        if found is not None:
            # Of a TLS connection the TCP connection, since its own goodbye may wait for the peer.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(found, socket.SHUT_RDWR)


@contextmanager
def exchange_once(
    client: httpx.Client, request: httpx.Request, seconds: float
) -> Iterator[httpx.Response]:
    """One exchange, after which ``client`` is closed. Raises as :class:`TimedClient`."""
    with client, TimedClient(client).exchange(request, seconds) as response:
        yield response
