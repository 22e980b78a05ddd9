"""Short questions over HTTP, as a chat asks them, with bounds in bytes and seconds."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import httpx

from split_client.doctor.case import Case
from split_client.transport.http import http_client
from split_client.weights.manifest import MAX_MANIFEST_BYTES


@dataclass(frozen=True, slots=True)
class Answer:
    """``began`` is this machine's clock (Unix time), ``seconds`` the time until the last byte."""

    status: int
    headers: httpx.Headers
    body: bytes
    began: float
    seconds: float


def ask(
    case: Case,
    path: str,
    token: str | None = None,
    *,
    most: int = MAX_MANIFEST_BYTES,
    seconds: float | None = None,
    headers: dict[str, str] | None = None,
    root: bool = False,
) -> Answer:
    """GET ``path`` of the model that is asked for, or of the server itself (``root``), and read at
    most ``most`` bytes, for at most ``seconds`` once they come.

    Raises TokenInvalid and httpx.HTTPError.
    """
    timeout = httpx.Timeout(case.limits.answer, connect=case.limits.connect)
    with http_client(case.server, token, case.limits.connect) as client:
        # Making a client reads a list of certificates, which is none of the network's time.
        began, clock = case.wall(), time.monotonic()
        url = (case.server.root if root else case.server).url + path
        with client.stream("GET", url, headers=headers or {}, timeout=timeout) as response:
            body = bytearray()
            until = math.inf if seconds is None else time.monotonic() + seconds
            for part in response.iter_raw():
                body += part
                if len(body) >= most or time.monotonic() > until:
                    break
            took = time.monotonic() - clock
            return Answer(response.status_code, response.headers, bytes(body[:most]), began, took)
