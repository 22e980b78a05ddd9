"""Newcomers: clients that wait for a session, or for memory, while all is in use; in turn."""

from __future__ import annotations

import asyncio
from bisect import insort
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from split_server.sessions.session import Session
from split_wire.errors import CacheFull, SplitError, TooManySessions

_MOST_WAITING, _MOST_OF_A_PRINCIPAL = 256, 64
_LONGEST_PAUSE = 1.0
_LONGEST_PATIENCE = 300.0


@dataclass(eq=False, slots=True)
class _Waiter:
    make: Callable[[], Session]
    refusal: SplitError
    rank: int
    session: asyncio.Future[Session] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Newcomers:
    """Lives on the event loop. ``patience``: seconds after which a newcomer is refused; 0: nobody
    waits. ``close``: takes back what was given to somebody who has left. ``refusal``: what has them
    wait, if it names a time; ``crowded``: what is told where too many wait.
    """

    def __init__(
        self,
        patience: float,
        close: Callable[[Session], None],
        refusal: type[TooManySessions | CacheFull] = TooManySessions,
        crowded: Callable[[int], SplitError] = lambda most: TooManySessions(most, _LONGEST_PAUSE),
    ) -> None:
        self._patience = patience
        self._close = close
        self._refusal, self._crowded = refusal, crowded
        # The principal whose turn is next comes first, and of each the lowest rank.
        self._waiting: OrderedDict[str, list[_Waiter]] = OrderedDict()
        self._arrivals = count()
        self._wake: asyncio.Handle | None = None
        self._wakes_at = 0.0

    def __len__(self) -> int:
        """Newcomers who wait."""
        return sum(map(len, self._waiting.values()))

    async def turn(
        self,
        principal: str,
        make: Callable[[], Session],
        rank: int | None = None,
        patience: float | None = None,
    ) -> Session:
        """What ``make`` returns once it no longer raises the refusal and it is the turn of the
        principal, which gives the lowest ``rank`` its turns first; by default whoever came first.

        Raises the refusal after ``patience``, at once where that is 0, or when too many wait, and
        what ``make`` raises.
        """
        refused = self._crowded(len(self))
        if not self._waiting:
            try:
                return make()
            except self._refusal as refusal:
                if refusal.retry_after is None:
                    raise
                refused = refusal
        patience = self._patience if patience is None else min(patience, _LONGEST_PATIENCE)
        if not patience:
            raise refused
        waiter = self._joined(principal, make, refused, rank)
        self._serve()
        try:
            async with asyncio.timeout(patience):
                return await waiter.session
        except TimeoutError:
            self._give_back(waiter)
            raise waiter.refusal from None
        except BaseException:
            self._give_back(waiter)
            raise
        finally:
            self._left(principal, waiter)

    def wake(self, seconds: float = 0.0) -> None:
        """Something may have become free; newcomers are served soon, or within ``seconds``."""
        if self._waiting:
            self._wake_after(seconds)

    def _joined(
        self, principal: str, make: Callable[[], Session], refused: SplitError, rank: int | None
    ) -> _Waiter:
        """Raises ``refused`` where too many wait."""
        mine = len(self._waiting.get(principal, ()))
        full = len(self) >= _MOST_WAITING or mine >= _MOST_OF_A_PRINCIPAL
        if full or not self._patience:
            raise refused
        waiter = _Waiter(make, refused, next(self._arrivals) if rank is None else rank)
        insort(self._waiting.setdefault(principal, []), waiter, key=lambda one: one.rank)
        return waiter

    def _left(self, principal: str, waiter: _Waiter) -> None:
        waiting = self._waiting.get(principal)
        if waiting is not None and waiter in waiting:
            waiting.remove(waiter)
            if not waiting:
                del self._waiting[principal]

    def _give_back(self, waiter: _Waiter) -> None:
        future = waiter.session
        if future.done() and not future.cancelled() and future.exception() is None:
            self._close(future.result())

    def _serve(self) -> None:
        """Give out what is free, one session to each principal in turn."""
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        pause = _LONGEST_PAUSE
        served = True
        while served:
            served = False
            for principal in list(self._waiting):
                waiter = self._waiting[principal][0]
                if self._made(waiter):
                    self._left(principal, waiter)
                    if principal in self._waiting:
                        self._waiting.move_to_end(principal)
                    served = True
                else:
                    pause = min(pause, waiter.refusal.retry_after or pause)
        if self._waiting:
            self._wake_after(pause)

    def _made(self, waiter: _Waiter) -> bool:
        """Whether ``waiter`` has been told."""
        if waiter.session.done():
            return True
        try:
            waiter.session.set_result(waiter.make())
        except self._refusal as refusal:
            if refusal.retry_after is None:
                waiter.session.set_exception(refusal)
                return True
            waiter.refusal = refusal
            return False
        # Whatever it is belongs to whoever waits.
        except BaseException as error:  # noqa: BLE001
            waiter.session.set_exception(error)
        return True

    def _wake_after(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        if self._wake is not None:
            if self._wakes_at <= loop.time() + seconds:
                return
            self._wake.cancel()
        self._wakes_at = loop.time() + seconds
        self._wake = loop.call_later(seconds, self._serve)
