"""What all models of a server have in common: quotas, sockets, threads, what is kept of replies."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Protocol

from split_server.compat.responses.kept import KeptResponses
from split_server.http.split.weights import downloads_quota
from split_server.http.wire.body import Bodies
from split_server.http.wire.quota import Quota
from split_server.http.wire.sockets import Sockets
from split_server.serving.config import ServerConfig
from split_server.serving.parts import Parts
from split_server.sessions.reuse import Reuse
from split_wire.limits import frame_limit

# For the answers to steps that are given up.
FAREWELL_SECONDS = 1.0
_FILE_THREADS = 2
# A socket may outlive its sessions a little, so that a reply on its way still finds it.
_IDLE_MARGIN_SECONDS = 60.0
# A frame that is a little too large is told so; one far beyond closes its socket.
_FRAME_MARGIN = 64 * 1024
# Messages of the largest size that one principal may have under way, unless it is configured.
_LARGEST_MESSAGES = 4


class HasParts(Protocol):
    """A room, as far as is asked here."""

    @property
    def parts(self) -> Parts: ...


class Shared:
    """``ready``: whether the server wants new sessions. ``max_message_bytes``: of any model."""

    def __init__(self, config: ServerConfig, first: Parts, ready: Callable[[], bool]) -> None:
        self.config, self.ready = config, ready
        self._rows = first.steps.max_rows
        self.max_message_bytes = _largest(first)
        limit = self._queued(config)
        self._message_bytes = Quota(limit, "bytes of messages")
        self._arriving_bytes = Quota(limit, "bytes of unfinished messages")
        self.sockets = Sockets(
            config.max_sockets,
            config.session_ttl + _IDLE_MARGIN_SECONDS,
            self._message_bytes,
            self._arriving_bytes,
        )
        self.bodies = Bodies(self._message_bytes)
        self.files = ThreadPoolExecutor(_FILE_THREADS, "files")
        self.downloads = downloads_quota()
        self.responses = KeptResponses()
        # Principals that there are none of any more, for models that come later.
        self.gone: Callable[[str], bool] = _nobody
        # All that are in memory, once there is who knows them.
        self.rooms: Callable[[], Sequence[HasParts]] = tuple

    def reuses(self) -> list[Reuse]:
        """What is kept for later sessions, of all models in memory."""
        found = (room.parts.steps.reuse for room in self.rooms())
        return [reuse for reuse in found if reuse is not None]

    async def drain(self) -> None:
        """Close what sockets there are still, and wait a moment until they are gone."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL_SECONDS):
                await self.sockets.drain()

    def close(self) -> None:
        """Begin no more reads of files."""
        self.files.shutdown(wait=False, cancel_futures=True)

    def expect(self, hidden_size: int) -> None:
        """A model of that width may come: its frames fit before it is there."""
        self._reach(frame_limit(hidden_size, self._rows) + _FRAME_MARGIN)

    def fit(self, parts: Parts) -> None:
        """``parts`` are served from here on."""
        self._reach(_largest(parts))

    def _reach(self, largest: int) -> None:
        if largest > self.max_message_bytes:
            self.max_message_bytes = largest
            for quota in (self._message_bytes, self._arriving_bytes):
                quota.reach(self._queued(self.config))

    def _queued(self, config: ServerConfig) -> int:
        largest = self.max_message_bytes
        return max(largest, config.max_queued_bytes or _LARGEST_MESSAGES * largest)


def _nobody(_: str) -> bool:
    return False


def _largest(parts: Parts) -> int:
    """Bytes of the longest message of a model."""
    return max(parts.framed.max_frame_bytes + _FRAME_MARGIN, parts.original.max_request_bytes)
