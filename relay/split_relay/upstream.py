"""One ready connection to the upstream: dialled, proven if that is required, not yet read."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable

from split_relay.address import Address
from split_relay.dial import backoff, dial
from split_relay.errors import UpstreamUnavailable
from split_relay.guard import TokenGuard
from split_relay.splice import End

_STARTING_SECONDS = 0.5  # per attempt while starting, so that a person soon sees what is awaited

logger = logging.getLogger("split_relay")


class Upstream:
    """Makes connections to one address; ``guard`` is None where everybody may connect."""

    def __init__(self, address: Address, *, seconds: float, guard: TokenGuard | None) -> None:
        self.address = address
        self._seconds = seconds
        self._guard = guard

    async def wait_until_proven(self, seconds: float) -> None:
        """Return once the upstream is up and asks for a token.

        Raises :class:`UpstreamUnavailable` after ``seconds``, and at once
        :class:`split_relay.errors.UpstreamUnprotected`.
        """
        last: UpstreamUnavailable | None = None
        try:
            async with asyncio.timeout(seconds):
                for pause in backoff():
                    try:
                        (await self._proven_socket(_STARTING_SECONDS)).close()
                    except UpstreamUnavailable as error:
                        if last is None:
                            logger.info(
                                "it is not up yet (%s); waiting up to %g s", error.reason, seconds
                            )
                        last = error
                        await asyncio.sleep(pause)
                    else:
                        return
        except TimeoutError:
            reason = last.reason if last is not None else "no answer"
            raise UpstreamUnavailable(self.address, seconds, reason) from last

    async def connect(self, count: Callable[[int], None]) -> End:
        """Return a connected end; ``count`` is told the size of what arrives on it.

        Raises :class:`UpstreamUnavailable` when dialling and proving take longer than the budget,
        or :class:`split_relay.errors.UpstreamUnprotected`.
        """
        sock = await self._proven_socket(self._seconds)
        loop = asyncio.get_running_loop()
        _, end = await loop.create_connection(lambda: End(count), sock=sock)
        return end

    async def _proven_socket(self, dial_seconds: float) -> socket.socket:
        deadline = asyncio.get_running_loop().time() + self._seconds
        sock = await dial(self.address, dial_seconds)
        try:
            async with asyncio.timeout_at(deadline):  # others may wait for the same probe
                await self._prove(sock)
        except TimeoutError:
            sock.close()
            reason = "it accepts connections but does not answer"
            raise UpstreamUnavailable(self.address, self._seconds, reason) from None
        except BaseException:
            sock.close()
            raise
        return sock

    async def _prove(self, sock: socket.socket) -> None:
        if self._guard is None:
            return
        try:
            await self._guard.check(sock)
        except OSError as error:  # it hung up in between
            reason = error.strerror or str(error)
            raise UpstreamUnavailable(self.address, self._seconds, reason) from error
