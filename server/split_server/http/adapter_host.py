"""The routes of an adapter host: listing, B, sessions with keys, numbered queries, masks.

Bodies have one exact length, which is checked before any of it is read. Session ids travel in
bodies, so that no log line holds one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgpack
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from split_server.adapter_host.errors import LengthRequired, WrongLength
from split_server.adapter_host.host import AdapterHost, HostedAdapter
from split_server.adapter_host.sessions import SESSION_BYTES
from split_server.adapter_host.shapes import (
    KEY_HEAD,
    QUERY_HEAD,
    RESERVE_BYTES,
    KeyBody,
    QueryBody,
    ReserveBody,
)
from split_server.http.wire.body import Bodies
from split_server.http.wire.errors import BadRequest
from split_server.http.wire.quota import Quota
from split_server.security.principal import principal_of

PATH = "/api/v1/adapters"
OCTETS = "application/octet-stream"
MSGPACK = "application/msgpack"
# Where a split server has its host: its own list of adapters has the path of a host's.
MOUNT = "/adapter-host"
_NO_STORE = {"Cache-Control": "no-store"}
_MAX_DOWNLOADS = 16


def mounted_host(host: AdapterHost, bodies: Bodies) -> list[BaseRoute]:
    """The routes of a host inside a split server, below ``/adapter-host``."""
    return [Mount(MOUNT, routes=AdapterHostRoutes(host, bodies).routes())]


class AdapterHostRoutes:
    """``bodies`` bounds what one principal may have under way."""

    def __init__(self, host: AdapterHost, bodies: Bodies) -> None:
        self._host, self._bodies = host, bodies
        self._downloads = Quota(_MAX_DOWNLOADS, "downloads")

    def routes(self) -> list[Route]:
        """Everything below ``/api/v1/adapters``."""
        return [
            Route(PATH, self.listing, methods=["GET", "HEAD"]),
            Route(PATH + "/{name}/b", self.b, methods=["GET"]),
            Route(PATH + "/{name}/session", self.session, methods=["POST"]),
            Route(PATH + "/{name}/key", self.key, methods=["POST"]),
            Route(PATH + "/{name}/evaluate", self.evaluate, methods=["POST"]),
            Route(PATH + "/{name}/reserve", self.reserve, methods=["POST"]),
            Route(PATH + "/{name}/mask", self.mask, methods=["POST"]),
            Route(PATH + "/{name}/masked", self.masked, methods=["POST"]),
            Route(PATH + "/{name}/end", self.end, methods=["POST"]),
        ]

    async def listing(self, _: Request) -> Response:
        """The list of adapters."""
        return JSONResponse(self._host.listing(), headers=_NO_STORE)

    async def b(self, request: Request) -> Response:
        """B float32 [H, r], little endian: what the device applies itself."""
        hosted = self._adapter(request)
        with self._downloads.hold(principal_of(request.scope)):
            return Response(hosted.file.b.astype("<f4").tobytes(), 200, _NO_STORE, OCTETS)

    async def session(self, request: Request) -> Response:
        """Begin a session; the answer is a msgpack map (:meth:`AdapterHost.open`)."""
        hosted = self._adapter(request)
        async with self._exactly(request, 0):
            opened = self._host.open(principal_of(request.scope), hosted.file.name)
        return Response(msgpack.packb(opened), 200, _NO_STORE, MSGPACK)

    async def key(self, request: Request) -> Response:
        """Give a session its key (:class:`KeyBody`)."""
        hosted = self._adapter(request)
        async with self._exactly(request, KEY_HEAD + hosted.terms.key) as body:
            given = KeyBody.parse(body)
            await self._host.set_key(
                principal_of(request.scope),
                hosted.file.name,
                given.session,
                given.device_nonce,
                given.public,
            )
        return Response(status_code=204, headers=_NO_STORE)

    async def evaluate(self, request: Request) -> Response:
        """One query (:class:`QueryBody`), one reply."""
        hosted = self._adapter(request)
        async with self._exactly(request, QUERY_HEAD + hosted.terms.query) as body:
            given = QueryBody.parse(body)
            reply = await self._host.evaluate(
                principal_of(request.scope),
                hosted.file.name,
                given.session,
                given.number,
                given.query,
            )
        return Response(reply, 200, _NO_STORE, OCTETS)

    async def reserve(self, request: Request) -> Response:
        """Numbers for masks of a session (:class:`ReserveBody`, ``split_masks.ranges``)."""
        name, principal = self._adapter(request).file.name, principal_of(request.scope)
        async with self._exactly(request, RESERVE_BYTES) as body:
            given = ReserveBody.parse(body)
            reserved = await self._host.reserve(
                principal, name, given.session, given.ordinal, given.count
            )
        return Response(reserved, 200, _NO_STORE, OCTETS)

    async def mask(self, request: Request) -> Response:
        """An encrypted r (:class:`QueryBody`) for one number, the encrypted A r + s."""
        hosted, principal = self._adapter(request), principal_of(request.scope)
        async with self._exactly(request, QUERY_HEAD + hosted.terms.query) as body:
            given = QueryBody.parse(body)
            reply = await self._host.make_mask(
                principal, hosted.file.name, given.session, given.number, given.query
            )
        return Response(reply, 200, _NO_STORE, OCTETS)

    async def masked(self, request: Request) -> Response:
        """A masked state (:class:`QueryBody`), its product less s."""
        hosted, principal = self._adapter(request), principal_of(request.scope)
        async with self._exactly(request, QUERY_HEAD + hosted.terms.masked) as body:
            given = QueryBody.parse(body)
            answer = self._host.masked(
                principal, hosted.file.name, given.session, given.number, given.query
            )
        return Response(answer, 200, _NO_STORE, OCTETS)

    async def end(self, request: Request) -> Response:
        """End a session: its id is the body."""
        hosted = self._adapter(request)
        async with self._exactly(request, SESSION_BYTES) as body:
            await self._host.end(principal_of(request.scope), hosted.file.name, body)
        return Response(status_code=204, headers=_NO_STORE)

    def _adapter(self, request: Request) -> HostedAdapter:
        return self._host.adapter(request.path_params["name"])

    @asynccontextmanager
    async def _exactly(self, request: Request, wanted: int) -> AsyncIterator[bytes]:
        """The body of ``wanted`` bytes. Raises LengthRequired, WrongLength before it is read."""
        headers = request.headers
        if "transfer-encoding" in headers or (wanted and "content-length" not in headers):
            raise LengthRequired
        text = headers.get("content-length", "0")
        if not (text.isascii() and text.isdigit()):
            raise BadRequest("Content-Length is not a number")
        if int(text[:20]) != wanted:
            raise WrongLength(int(text[:20]), wanted)
        async with self._bodies.taken(request, wanted) as body:
            yield body
