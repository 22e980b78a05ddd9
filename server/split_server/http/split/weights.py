"""``/weights``: the manifest, the files that it names, their packed forms, and float16 copies for
older clients.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from split_server.checkpoint.catalog import Catalog, ServedFile
from split_server.checkpoint.manifest import MANIFEST_FILE, Manifest
from split_server.checkpoint.slices import Digests, TextSource
from split_server.http.split.download import STALL_SECONDS, Download
from split_server.http.split.ranges import select
from split_server.http.wire.quota import Quota
from split_server.security.principal import principal_of

MAX_DOWNLOADS = 16


def downloads_quota() -> Quota:
    """Of one principal."""
    return Quota(MAX_DOWNLOADS, "downloads")


class Weights:
    """``executor``: the threads that read files. ``stall``: seconds that a reader may pause;
    ``quota``: of downloads, None for one of its own.
    """

    def __init__(
        self,
        catalog: Catalog,
        manifest: Manifest,
        executor: Executor,
        stall: float = STALL_SECONDS,
        quota: Quota | None = None,
    ) -> None:
        self._catalog = catalog
        self._manifest = ServedFile(
            MANIFEST_FILE,
            TextSource(manifest.data),
            "application/json",
            Digests(manifest.digest, (manifest.digest,)),
            packed=tuple(sorted(catalog.packed)),
        )
        self._executor = executor
        self._stall = stall
        self._quota = quota or downloads_quota()

    def routes(self) -> list[Route]:
        """GET and HEAD of ``/weights/{name}``."""
        return [Route("/weights/{name}", self, methods=["GET", "HEAD"])]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one file. Raises NotFound, Overloaded, WeightsChanged.

        An ASGI application of its own, so that the quota is held until the last byte is out.
        """
        with self._quota.hold(principal_of(scope)):
            request = Request(scope, receive)
            response = self._response(request, await self._find(request.path_params["name"]))
            await response(scope, receive, send)

    async def _find(self, name: str) -> ServedFile:
        if name == MANIFEST_FILE:
            return self._manifest
        if self._catalog.holds(name):
            return self._catalog.find(name)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, self._catalog.find, name)

    def _response(self, request: Request, file: ServedFile) -> Response:
        etag = f'"{file.digests.sha256}"'
        selection = select(request.method, request.headers, etag, file.source.size)
        return Download(file, selection, etag, self._executor, self._stall)
