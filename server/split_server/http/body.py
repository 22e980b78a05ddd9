"""Reads a request's body within a size and a time."""

from __future__ import annotations

import asyncio

from starlette.requests import Request

from split_server.http.errors import BadRequest, RequestTimeout
from split_wire.errors import FrameTooLarge

BODY_SECONDS = 60.0


async def read_body(request: Request, limit: int, seconds: float = BODY_SECONDS) -> bytes:
    """The whole body of at most ``limit`` bytes.

    Raises FrameTooLarge (before reading where Content-Length says so), RequestTimeout, BadRequest.
    """
    announced = _content_length(request)
    if announced > limit:
        raise FrameTooLarge(announced, limit)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                body += piece
                if len(body) > limit:
                    raise FrameTooLarge(len(body), limit)
    except TimeoutError:
        raise RequestTimeout(seconds) from None
    return bytes(body)


def _content_length(request: Request) -> int:
    text = request.headers.get("content-length", "0")
    if not (text.isascii() and text.isdigit()):
        raise BadRequest("Content-Length is not a number")
    return int(text[:20])
