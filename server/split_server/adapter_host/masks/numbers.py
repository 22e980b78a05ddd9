"""Numbers of masks for each principal: written down in blocks, handed out from memory.

What is on disk is never below what was handed out; after a crash the rest of a block is lost.
"""

from __future__ import annotations

import asyncio
import logging

from split_masks.errors import MasksError
from split_masks.ranges import MaskRange, RangeFile
from split_server.adapter_host.masks.errors import MasksUnavailable

_BLOCK = 256
_log = logging.getLogger(__name__)


class Numbers:
    """``ranges``: where they are written down. For one event loop. Raises MasksError."""

    def __init__(self, ranges: RangeFile | None) -> None:
        self._ranges = ranges
        self._given = {} if ranges is None else ranges.reserved()
        self._left: dict[str, MaskRange] = {}
        self._turn = asyncio.Lock()

    def given(self, principal: str) -> int:
        """The first number that this principal was not given."""
        return self._given.get(principal, 0)

    async def ready(self, principal: str) -> int:
        """How many numbers :meth:`take` has, at least one; they are on the disk.

        Raises MasksUnavailable.
        """
        async with self._turn:
            left = self._left.get(principal)
            if left is None or not left.count:
                # A disk may take long.
                left = await asyncio.to_thread(self._reserved, principal)
                self._left[principal] = left
        return left.count

    def take(self, principal: str, count: int) -> MaskRange:
        """``count`` of the numbers that are ready."""
        left = self._left[principal]
        given = MaskRange(left.name, left.first, count)
        self._left[principal] = MaskRange(left.name, given.end, left.count - count)
        self._given[principal] = given.end
        return given

    def _reserved(self, principal: str) -> MaskRange:
        if self._ranges is None:
            raise MasksUnavailable
        try:
            return self._ranges.reserve(principal, _BLOCK)
        except MasksError as error:
            _log.error("no masks are made: %s", error)
            raise MasksUnavailable from error
