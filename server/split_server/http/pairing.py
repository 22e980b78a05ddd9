"""Pairing over HTTP: the certificate to trust, a page that explains it, a code for a token."""

from __future__ import annotations

import asyncio
import json
from importlib.resources import files
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from split_server.http.errors import BadRequest
from split_server.pairing.pairing import Pairing
from split_wire.errors import FrameTooLarge, NotFound

MAX_BODY = 4096
_MAX_TEXT = 200
_BODY_SECONDS = 10.0
_CSP = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_PAGE = {
    "Content-Security-Policy": _CSP,
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
}


def pairing_routes(pairing: Pairing) -> list[Route]:
    """``/pair``, ``/pair.css``, ``/ca.crt`` and ``POST /api/v1/pair``, all without a token."""

    async def pair(request: Request) -> Response:
        code, name = _asked(await _body(request))
        paired = await asyncio.to_thread(pairing.redeem, code, name)
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

    async def page(_: Request) -> Response:
        return Response(_static("pair.html"), media_type="text/html", headers=_PAGE)

    async def style(_: Request) -> Response:
        return Response(_static("pair.css"), media_type="text/css")

    return [
        Route("/api/v1/pair", pair, methods=["POST"]),
        Route("/ca.crt", authority, methods=["GET", "HEAD"]),
        Route("/pair", page, methods=["GET", "HEAD"]),
        Route("/pair.css", style, methods=["GET", "HEAD"]),
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


def _static(name: str) -> bytes:
    return files("split_server.http").joinpath("pages", name).read_bytes()
