"""Newcomers: clients that wait for a session while all are in use, principals in turn."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from split_server.sessions.session import Session
from split_wire.errors import TooManySessions

_MOST_WAITING, _MOST_OF_A_PRINCIPAL = 256, 64
_LONGEST_PAUSE = 1.0


@dataclass(eq=False, slots=True)
class _Waiter:
    make: Callable[[], Session]
    refusal: TooManySessions
    session: asyncio.Future[Session] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class Newcomers:
    """Lives on the event loop. ``patience``: seconds after which a newcomer is refused; 0: nobody
    waits. ``close``: ends a session that was made for somebody who has left.
    """

    def __init__(self, patience: float, close: Callable[[Session], None]) -> None:
        self._patience = patience
        self._close = close
        # The principal whose turn is next comes first.
        self._waiting: OrderedDict[str, deque[_Waiter]] = OrderedDict()
        self._wake: asyncio.Handle | None = None

    def __len__(self) -> int:
        """Newcomers who wait."""
        return sum(map(len, self._waiting.values()))

    async def session(self, principal: str, make: Callable[[], Session]) -> Session:
        """What ``make`` returns once it no longer raises TooManySessions and it is the principal's
        turn.

        Raises TooManySessions after ``patience`` or when too many wait, and what ``make`` raises.
        """
        if not self._waiting:
            try:
                return make()
            except TooManySessions as refusal:
                refused = refusal
        else:
            refused = TooManySessions(len(self), _LONGEST_PAUSE)
        waiter = self._joined(principal, make, refused)
        self._serve()
        try:
            async with asyncio.timeout(self._patience):
                return await waiter.session
        except TimeoutError:
            self._give_back(waiter)
            raise waiter.refusal from None
        except BaseException:
            self._give_back(waiter)
            raise
        finally:
            self._left(principal, waiter)

    def wake(self) -> None:
        """A session may have become free; newcomers are served soon."""
        if self._waiting:
            self._wake_after(0.0)

    def _joined(
        self, principal: str, make: Callable[[], Session], refused: TooManySessions
    ) -> _Waiter:
        """Raises ``refused`` where too many wait."""
        mine = len(self._waiting.get(principal, ()))
        full = len(self) >= _MOST_WAITING or mine >= _MOST_OF_A_PRINCIPAL
        if full or not self._patience:
            raise refused
        waiter = _Waiter(make, refused)
        self._waiting.setdefault(principal, deque()).append(waiter)
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
        except TooManySessions as refusal:
            waiter.refusal = refusal
            return False
        # Whatever it is belongs to whoever waits.
        except BaseException as error:  # noqa: BLE001
            waiter.session.set_exception(error)
        return True

    def _wake_after(self, seconds: float) -> None:
        if self._wake is not None:
            self._wake.cancel()
        self._wake = asyncio.get_running_loop().call_later(seconds, self._serve)
