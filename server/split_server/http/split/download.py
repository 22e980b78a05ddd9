"""Streams a served file, or a range of it, a piece at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from split_server.http.split.ranges import Part, Selection, Unchanged, Unsatisfiable
from split_server.security.hanging_up import ABORT_EXTENSION

if TYPE_CHECKING:
    # They read checkpoints, which an adapter host has none of.
    from split_server.checkpoint.catalog import ServedFile
    from split_server.checkpoint.slices import ReadAt

PIECE_BYTES = 512 * 1024
STALL_SECONDS = 60.0
_log = logging.getLogger(__name__)


class Download(Response):
    """The answer to ``selection`` of ``file``; reads run on ``executor``, never on the event loop.

    At most one piece is held in memory. A reader that takes no piece for ``stall`` seconds is cut
    off.
    """

    def __init__(
        self,
        file: ServedFile,
        selection: Selection,
        etag: str,
        executor: Executor,
        stall: float = STALL_SECONDS,
    ) -> None:
        self._file = file
        self._executor = executor
        self._stall = stall
        self._first, self._end = _bounds(selection, file.source.size)
        super().__init__(status_code=_status(selection), headers=_headers(file, selection, etag))
        if not isinstance(selection, Unchanged):
            self.headers["content-length"] = str(self._end - self._first)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "HEAD" or self._first == self._end:
            await super().__call__(scope, receive, send)
            return
        with self._file.source.opened() as read:
            await send(
                {
                    "type": "http.response.start",
                    "status": self.status_code,
                    "headers": self.raw_headers,
                }
            )
            await self._stream(read, Request(scope, receive), send)

    async def _stream(self, read: ReadAt, request: Request, send: Send) -> None:
        loop = asyncio.get_running_loop()
        position = self._first
        while position < self._end and not await request.is_disconnected():
            length = min(PIECE_BYTES, self._end - position)
            data = await loop.run_in_executor(self._executor, read, position, length)
            position += length
            more = position < self._end
            try:
                async with asyncio.timeout(self._stall):
                    await send({"type": "http.response.body", "body": data, "more_body": more})
            except TimeoutError:
                _log.info("a download of %s stalled and is cut off", self._file.name)
                await _abort(request)
                return


async def _abort(request: Request) -> None:
    """End the connection at once and wait until it is gone."""
    abort: Callable[[], None] | None = request.scope.get("extensions", {}).get(ABORT_EXTENSION)
    if abort is not None:
        abort()
        while (await request.receive())["type"] != "http.disconnect":
            pass


def _bounds(selection: Selection, size: int) -> tuple[int, int]:
    match selection:
        case Part(first, end):
            return first, end
        case Unsatisfiable() | Unchanged():
            return 0, 0
        case _:
            return 0, size


def _status(selection: Selection) -> int:
    return {Part: 206, Unsatisfiable: 416, Unchanged: 304}.get(type(selection), 200)


def _headers(file: ServedFile, selection: Selection, etag: str) -> dict[str, str]:
    headers = {
        "ETag": etag,
        "Accept-Ranges": "bytes",
        # A file keeps its name when the model behind it changes, so a copy is always checked.
        "Cache-Control": "private, no-cache, no-transform",
    }
    if not isinstance(selection, Unchanged):
        headers["Content-Type"] = file.media_type
    size = file.source.size
    if isinstance(selection, Part):
        headers["Content-Range"] = f"bytes {selection.first}-{selection.end - 1}/{size}"
    elif isinstance(selection, Unsatisfiable):
        headers["Content-Range"] = f"bytes */{size}"
    if file.lossy_values:
        headers["X-Lossy"] = f"float16; changed-values={file.lossy_values}"
    if file.packed:
        headers["X-Packed"] = ", ".join(file.packed)
    return headers
