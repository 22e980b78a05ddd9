"""Ending a connection whose peer may never read: a short time for a goodbye, then an abort."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from starlette.types import Scope

# Where a request or a WebSocket finds what ends its connection at once.
ABORT_EXTENSION = "split.abort"
GOODBYE_SECONDS = 0.25
# On, for no seconds: the struct linger of socket(7).
_NO_LINGER = struct.pack("ii", 1, 0)


def reset(transport: asyncio.Transport) -> None:
    """End the connection on both sides (RST, RFC 9293, 3.10.7).

    After a close the system would go on offering what is not acknowledged, for as long as a peer
    that never reads likes.
    """
    connected: socket.socket | None = transport.get_extra_info("socket")
    if connected is not None:
        with suppress(OSError):
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
    transport.abort()


def abort(scope: Scope) -> None:
    """End the connection at once; nothing that waits to be sent is sent."""
    found: Callable[[], None] | Any = scope.get("extensions", {}).get(ABORT_EXTENSION)
    if found is not None:
        found()


async def hang_up(
    scope: Scope, goodbye: Awaitable[object], seconds: float = GOODBYE_SECONDS
) -> None:
    """Say ``goodbye``, for which the peer may have to read, and end the connection after
    ``seconds`` whatever became of it.

    The time that is left after a goodbye is the peer's to close in order.
    """
    loop = asyncio.get_running_loop()
    end = loop.call_later(seconds, abort, scope)
    try:
        async with asyncio.timeout(seconds):
            await goodbye
    except TimeoutError:
        abort(scope)
        end.cancel()
    except (OSError, RuntimeError):
        # The connection is gone, or somebody else said goodbye before.
        return
