"""Frames over HTTP: one POST per exchange on a kept-alive connection.

The fallback where WebSockets do not get through. Proxies of the environment are used, except to
this machine.
"""

from __future__ import annotations

import httpx

from split_client.errors import AnswerInvalid, ConnectionLost, NotASplitServer, ServerRefused
from split_client.transport.bearer import authorization
from split_client.transport.endpoint import Endpoint
from split_client.transport.reach.diagnosis import unreachable
from split_client.transport.refusal import read_refusal
from split_client.transport.timed import TimedClient, exchange_once
from split_client.transport.tls import no_context
from split_client.transport.tls_sessions import TlsSessions
from split_wire.errors import FrameTooLarge
from split_wire.frame import is_frame
from split_wire.messages import CONTENT_TYPE

PATH = "/api/v1/split/forward"
# What the library raises where no connection comes about.
UNREACHED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError)
_OK = 200
# Of a server that does not know the address, or not this method of it.
_UNKNOWN = (404, 405)
_ONCE_SECONDS = 20.0
# Reading the authorities takes tens of milliseconds, which each new connection would wait for. The
# library changes what it is given, so these are not those of WebSockets.
_CONTEXTS = TlsSessions()


def http_client(endpoint: Endpoint, token: str | None, connect_timeout: float) -> httpx.Client:
    """A client for ``endpoint``. Raises TokenInvalid.

    Redirects are not followed: the token would travel along.
    """
    return httpx.Client(
        headers={"Accept-Encoding": "identity"} | authorization(token),
        timeout=httpx.Timeout(60.0, connect=connect_timeout),
        trust_env=not endpoint.is_loopback,
        follow_redirects=False,
        # A pinned authority or the system's, as for WebSockets, not the library's own list.
        verify=_CONTEXTS.context(endpoint) if endpoint.secure else no_context(),
    )


def _forget_context(endpoint: Endpoint) -> None:
    """Who trusts the server from now on is let in without another start of the program."""
    if endpoint.secure:
        _CONTEXTS.forget(endpoint)


def asked_once(
    endpoint: Endpoint,
    token: str | None,
    connect_timeout: float,
    path: str,
    what: str,
    most: int,
    method: str = "GET",
    content: bytes | None = None,
) -> bytes | None:
    """The answer of at most ``most`` bytes to one request, whose JSON is ``content``; None: the
    server does not know the path. ``what`` is asked for, in words.

    Raises AnswerInvalid, ServerUnreachable, ConnectionLost, ServerRefused, TokenInvalid.
    """
    client = http_client(endpoint, token, connect_timeout)
    timeout = httpx.Timeout(_ONCE_SECONDS, connect=connect_timeout)
    headers = {"Content-Type": "application/json"} if content else {}
    request = client.build_request(
        method, endpoint.url + path, content=content, headers=headers, timeout=timeout
    )
    try:
        with exchange_once(client, request, _ONCE_SECONDS) as response:
            body = _bounded(response, most)
    except UNREACHED as error:
        _forget_context(endpoint)
        raise unreachable(endpoint, error, connect_timeout) from error
    except httpx.HTTPError as error:
        raise ConnectionLost(str(error) or type(error).__name__) from error
    if response.status_code in _UNKNOWN:
        return None
    if response.status_code != _OK:
        status = f"HTTP status {response.status_code} for {what}"
        raise read_refusal(body) or ServerRefused("not_a_split_server", status)
    return body


def _bounded(response: httpx.Response, most: int) -> bytes:
    body = bytearray()
    for part in response.iter_raw():
        body += part
        if len(body) > most:
            raise AnswerInvalid(FrameTooLarge(len(body), most))
    return bytes(body)


class HttpTransport:
    """``max_frame`` bounds the answers that are accepted, in bytes; ``routing``: the routing id, by
    which a balancer brings every request to the same machine.
    """

    name = "http"

    def __init__(
        self,
        endpoint: Endpoint,
        token: str | None,
        max_frame: int,
        connect_timeout: float,
        routing: str | None = None,
    ) -> None:
        self._endpoint, self._connect_timeout = endpoint, connect_timeout
        self._url = endpoint.routed(PATH, routing)
        self._max_frame = max_frame
        self._client = http_client(endpoint, token, connect_timeout)
        self._timed = TimedClient(self._client)

    def exchange(self, frame: bytes, timeout: float) -> bytes:
        """POST ``frame`` and return the body, all of it within ``timeout`` seconds.

        Raises ConnectionLost, ServerUnreachable, ServerRefused, NotASplitServer among them.
        """
        request = self._client.build_request(
            "POST", self._url, content=frame, headers={"Content-Type": CONTENT_TYPE}
        )
        request.extensions["timeout"]["read"] = timeout
        try:
            with self._timed.exchange(request, timeout) as response:
                body = self._body(response)
        except UNREACHED as error:
            _forget_context(self._endpoint)
            raise unreachable(self._endpoint, error, self._connect_timeout) from error
        except httpx.HTTPError as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error
        # A refused frame is answered by a frame too, whatever the status.
        if is_frame(body):
            return body
        raise _refusal(response, body)

    def accept(self, max_frame: int) -> None:
        """Answers may have ``max_frame`` bytes from here on."""
        self._max_frame = max_frame

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _body(self, response: httpx.Response) -> bytes:
        body = bytearray()
        for part in response.iter_raw():
            body += part
            if len(body) > self._max_frame:
                raise ServerRefused("answer_too_large", "the server's answer is longer than agreed")
        return bytes(body)


def _refusal(response: httpx.Response, body: bytes) -> Exception:
    refused = read_refusal(body, response.headers.get("Retry-After"))
    if refused is not None:
        return refused
    if response.status_code in (502, 503, 504):
        return ConnectionLost(f"HTTP status {response.status_code} from something in between")
    return NotASplitServer(response.status_code)
