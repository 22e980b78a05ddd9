"""An MCP server behind a URL: streamable HTTP, each message a POST, answers as JSON or events.

https, or this machine. A redirect is followed within the same origin alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Final

import httpx

from split_client.errors import ClientError
from split_client.tools.errors import McpError
from split_client.tools.mcp.messages import (
    MAX_MESSAGE,
    MAX_OTHERS,
    Message,
    answers,
    decoded,
    encoded,
    reply_to,
)
from split_client.transport.endpoint import Endpoint
from split_client.transport.timed import TimedClient
from split_client.transport.tls import tls_context

_CONNECT_SECONDS: Final = 10.0
_TELL_SECONDS: Final = 10.0
_MOST_REDIRECTS: Final = 3
_REDIRECTS: Final = (307, 308)
_EVENTS: Final = "text/event-stream"
_SESSION: Final = "mcp-session-id"


class HttpChannel:
    """``headers``: sent with every message; ``transport``: in place of the network."""

    def __init__(
        self,
        server: str,
        url: str,
        headers: Mapping[str, str],
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        try:
            endpoint = Endpoint.parse(url)
        except ClientError as error:
            raise McpError(server, str(error)) from error
        if not endpoint.secure and not endpoint.is_loopback:
            raise McpError(server, "plain http reaches this machine alone; use https")
        self._server, self._clock = server, clock
        # A slash at the end is part of an address that other servers tell apart.
        self._url = httpx.URL(endpoint.url + ("/" if url.rstrip().endswith("/") else ""))
        self._client = httpx.Client(
            headers={"Accept": f"application/json, {_EVENTS}", **headers},
            trust_env=not endpoint.is_loopback,
            follow_redirects=False,
            verify=tls_context(endpoint) if endpoint.secure else True,
            transport=transport,
        )
        self._timed = TimedClient(self._client)

    def speak(self, version: str) -> None:
        """Name the version of the protocol with every message from now on."""
        self._client.headers["MCP-Protocol-Version"] = version

    def ask(self, message: Message, seconds: float) -> Message:
        """The answer to ``message``. Raises McpError."""
        others: list[Message] = []
        found, deadline = None, self._clock() + seconds
        for received in self._post(message, deadline):
            if answers(received, message["id"]):
                found = received
                break
            others.append(received)
            if len(others) > MAX_OTHERS:
                break
        for reply in filter(None, map(reply_to, others)):
            self._tell(reply, deadline)
        if found is None:
            raise McpError(self._server, "its answer ended too soon")
        return found

    def tell(self, message: Message) -> None:
        """Send ``message``. Raises McpError."""
        self._tell(message, self._clock() + _TELL_SECONDS)

    def close(self) -> None:
        """Leave the session, which the server may have ended."""
        if _SESSION in self._client.headers:
            with suppress(httpx.HTTPError):
                self._client.delete(self._url, timeout=2.0)
        self._client.close()

    def _tell(self, message: Message, deadline: float) -> None:
        for _ in self._post(message, deadline):
            return

    def _post(self, message: Message, deadline: float) -> Iterator[Message]:
        try:
            for _ in range(_MOST_REDIRECTS):
                with self._stream(message, deadline) as response:
                    if response.status_code not in _REDIRECTS:
                        yield from self._messages(response, deadline)
                        return
                    self._url = self._redirected(response)
        except (httpx.ReadTimeout, httpx.WriteTimeout) as error:
            raise self._late() from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = str(error) or type(error).__name__
            raise McpError(self._server, f"it cannot be reached: {reason}") from error
        raise McpError(self._server, "it redirects again and again")

    def _stream(self, message: Message, deadline: float) -> AbstractContextManager[httpx.Response]:
        left = deadline - self._clock()
        if left <= 0:
            raise self._late()
        request = self._client.build_request(
            "POST",
            self._url,
            content=encoded(message),
            headers={"Content-Type": "application/json"},
            timeout=httpx.Timeout(left, connect=min(left, _CONNECT_SECONDS)),
        )
        return self._timed.exchange(request, left)

    def _late(self) -> McpError:
        return McpError(self._server, "it gave no answer in time")

    def _redirected(self, response: httpx.Response) -> httpx.URL:
        target = self._url.join(response.headers.get("location", ""))
        origin = (self._url.scheme, self._url.host, self._url.port)
        if (target.scheme, target.host, target.port) != origin:
            raise McpError(self._server, "it redirects to another host, which is not followed")
        return target

    def _messages(self, response: httpx.Response, deadline: float) -> Iterator[Message]:
        status = response.status_code
        if status >= 300:
            hint = "; it wants a token, such as an Authorization header" if status == 401 else ""
            raise McpError(self._server, f"it answered with status {status}{hint}")
        session = response.headers.get(_SESSION)
        if session is not None:
            self._client.headers[_SESSION] = session
        lines = self._lines(response, deadline)
        if not response.headers.get("content-type", "").startswith(_EVENTS):
            text = b"\n".join(lines)
            if text.strip():
                yield decoded(self._server, text)
            return
        data = list[bytes]()
        for line in lines:
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif not line.strip() and data:
                yield decoded(self._server, b"\n".join(data))
                data = []
        if data:
            yield decoded(self._server, b"\n".join(data))

    def _lines(self, response: httpx.Response, deadline: float) -> Iterator[bytes]:
        held, taken = bytearray(), 0
        for piece in response.iter_bytes():
            taken += len(piece)
            if taken > MAX_MESSAGE:
                raise McpError(self._server, f"it sent more than {MAX_MESSAGE} bytes")
            if self._clock() > deadline:
                raise self._late()
            held += piece
            *whole, rest = held.split(b"\n")
            yield from (bytes(line).rstrip(b"\r") for line in whole)
            held = bytearray(rest)
        # An answer without a length ends like a whole one where its connection was cut.
        if self._clock() > deadline:
            raise self._late()
        yield bytes(held)
