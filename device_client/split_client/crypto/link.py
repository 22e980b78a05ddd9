"""Requests to an adapter host: sent again after a lost connection, waited for while it is full.

Sending the same bytes twice is safe: the host answers a query's number once and from memory after
that. Redirects are not followed and answers are bounded.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Literal

import httpx

from split_client.crypto.errors import (
    AdapterHostInvalid,
    AdapterHostRefused,
    AdapterHostUnreachable,
)
from split_client.errors import ServerRefused
from split_client.transport.base import Traffic
from split_client.transport.channel import Patience
from split_client.transport.endpoint import Endpoint
from split_client.transport.http import UNREACHED, http_client
from split_client.transport.reach.diagnosis import cause_of
from split_client.transport.refusal import read_refusal
from split_client.transport.timed import TimedClient

PATH = "/api/v1/adapters"
_OCTETS = {"Content-Type": "application/octet-stream"}
_REFUSAL_BYTES = 64 * 1024
_OK = (200, 204)
_BETWEEN = (502, 503, 504)
# A reply waits meanwhile: shorter than for the server, which loses a whole conversation.
_EXCHANGE_SECONDS = 20.0
_TOTAL_SECONDS = 15.0


class HostLink:
    """``patience``: that for the server, of which a host gets at most 15 s in all and 20 s for one
    answer. ``pause`` waits and may raise Cancelled. Not for use by several threads.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        token: str | None,
        patience: Patience | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._endpoint, self._patience = endpoint, _bounded_patience(patience or Patience())
        self._clock, self._pause, self._chance = clock, pause, chance
        self._client = http_client(endpoint, token, self._patience.connect)
        self._timed = TimedClient(self._client)
        self._urls: dict[str, httpx.URL] = {}
        self.traffic = Traffic()

    def ask(
        self, method: Literal["GET", "POST"], path: str, limit: int, body: bytes | None = None
    ) -> bytes:
        """The answer of at most ``limit`` bytes to ``path`` below the adapters.

        Raises AdapterHostUnreachable, AdapterHostRefused, AdapterHostInvalid.
        """
        deadline: float | None = None
        final: AdapterHostUnreachable | AdapterHostRefused
        for attempt in count():
            try:
                return self._once(method, path, limit, body)
            except httpx.HTTPError as error:
                least, final = 0.0, self._unreachable(error)
                if final.stays:
                    raise final from None
            except ServerRefused as refused:
                if not refused.retryable:
                    raise AdapterHostRefused(refused.code, str(refused)) from None
                least = refused.retry_after or 0.0
                final = AdapterHostRefused(refused.code, str(refused))
            deadline = deadline or self._clock() + self._patience.total
            delay = max(least, self._patience.delay(attempt, self._chance()))
            if self._clock() + delay > deadline:
                raise final
            self._pause(delay)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _once(self, method: str, path: str, limit: int, body: bytes | None) -> bytes:
        request = self._client.build_request(
            method, self._url(path), content=body, headers=_OCTETS if body else {}
        )
        request.extensions["timeout"]["read"] = self._patience.exchange
        with self._timed.exchange(request, self._patience.exchange) as response:
            answer = _bounded(response, max(limit, _REFUSAL_BYTES))
        if response.status_code not in _OK:
            raise self._refusal(response, answer)
        if len(answer) > limit:
            raise AdapterHostInvalid(f"it is longer than {limit} bytes")
        self.traffic.count(len(body or b""), len(answer))
        return answer

    def _url(self, path: str) -> httpx.URL:
        """Parsed once for each path: parsing takes as long as decrypting."""
        if path not in self._urls:
            self._urls[path] = httpx.URL(self._endpoint.url + PATH + path)
        return self._urls[path]

    def _refusal(self, response: httpx.Response, body: bytes) -> Exception:
        refused = read_refusal(body, response.headers.get("Retry-After"))
        if refused is not None:
            return refused
        if response.status_code in _BETWEEN:
            return httpx.RemoteProtocolError(f"HTTP status {response.status_code}")
        return AdapterHostInvalid(f"HTTP status {response.status_code}: this is no adapter host")

    def _unreachable(self, error: httpx.HTTPError) -> AdapterHostUnreachable:
        authority = self._endpoint.authority
        if not isinstance(error, UNREACHED):
            return AdapterHostUnreachable(authority, str(error) or type(error).__name__)
        cause = cause_of(self._endpoint, error, self._patience.connect)
        return AdapterHostUnreachable(
            authority, f"{cause.message}; {cause.advice}", stays=cause.final
        )


def _bounded_patience(given: Patience) -> Patience:
    return replace(
        given,
        exchange=min(given.exchange, _EXCHANGE_SECONDS),
        total=min(given.total, _TOTAL_SECONDS),
    )


def _bounded(response: httpx.Response, limit: int) -> bytes:
    body = bytearray()
    for part in response.iter_raw():
        body += part
        if len(body) > limit:
            raise AdapterHostInvalid(f"it is longer than {limit} bytes")
    return bytes(body)
