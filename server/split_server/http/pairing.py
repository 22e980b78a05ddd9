"""Pairing over HTTP: the certificate to trust, and a code for a token."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from split_server.http.wire.errors import BadRequest
from split_server.pairing.errors import StateUnavailable, StateUnusable
from split_server.pairing.pairing import Pairing
from split_server.threads import Threads
from split_wire.errors import FrameTooLarge, NotFound

MAX_BODY = 4096
_MAX_TEXT = 200
_BODY_SECONDS = 10.0
_log = logging.getLogger(__name__)


def pairing_routes(pairing: Pairing, threads: Threads) -> list[Route]:
    """``/ca.crt`` and ``POST /api/v1/pair``, both without a token; codes are redeemed on
    ``threads``.
    """

    async def pair(request: Request) -> Response:
        code, name = _asked(await _body(request))
        address = "" if request.client is None else request.client.host
        try:
            paired = await threads.run(lambda: pairing.redeem(code, name, address))
        except StateUnusable as error:
            _log.warning("a device could not be paired: %s", error)
            raise StateUnavailable from None
        answer = {"token": paired.token, "id": paired.device.id, "name": paired.device.name}
        return JSONResponse(answer, headers={"Cache-Control": "no-store"})

    async def authority(request: Request) -> Response:
        if pairing.authority is None:
            raise NotFound(request.url.path)
        return Response(
            pairing.authority.der,
            media_type="application/x-x509-ca-cert",
            headers={"Content-Disposition": 'attachment; filename="gatelink-ca.crt"'},
        )

    return [
        Route("/api/v1/pair", pair, methods=["POST"]),
        Route("/ca.crt", authority, methods=["GET", "HEAD"]),
    ]


async def _body(request: Request) -> bytes:
    """At most 4 KB, within ten seconds. Raises FrameTooLarge, BadRequest."""
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > MAX_BODY:
                    raise FrameTooLarge(len(body), MAX_BODY)
    except TimeoutError:
        raise BadRequest("the body did not arrive in time") from None
    return bytes(body)


def _asked(body: bytes) -> tuple[str, str]:
    """Code and name of the device. Raises BadRequest."""
    try:
        values: Any = json.loads(body)
    except (ValueError, RecursionError):
        values = None
    match values:
        case {"code": str(code), "name": str(name)} if max(len(code), len(name)) <= _MAX_TEXT:
            return code, name
    raise BadRequest('send {"code": "XXXX-XXXX", "name": "what the device is called"}')
