"""Masks made for the next reply while nothing is asked of the host, a mask at a time.

Bounded in number (what is wanted, and what the host lets one device hold), in bytes and in time.
Every number belongs to a range that the host handed out and that both sides wrote down before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from split_client.crypto.errors import (
    AdapterHostError,
    AdapterHostInvalid,
    AdapterHostRefused,
    AdapterHostUnreachable,
)
from split_client.crypto.link import HostLink
from split_client.crypto.masks import MaskTally
from split_client.crypto.session import HostSession
from split_client.owner_file import data_folder, make_folder, write_whole
from split_masks.errors import MalformedRange, MasksError
from split_masks.ranges import MaskRange, RangeFile

_MOST_BYTES = 16 << 20
_IN_A_RANGE = 32
# A quarter of a second after the last state: a reply asks sooner, whoever reads does not.
_QUIET_SECONDS = 0.25
_LOOK_SECONDS = 0.05
_MAKING_SECONDS = 30.0
_HOSTS = 256


class Begin(Protocol):
    """What has work done some time, on a thread and a connection of its own."""

    def __call__(self, work: Callable[[HostLink], None], /) -> Future[None]: ...


def device_ranges() -> RangeFile:
    """The file of the numbers that this user's devices took. Raises OSError."""
    folder = data_folder()
    make_folder(folder)
    return RangeFile(folder / "adapter-masks.json", write_whole, most=_HOSTS)


class MaskMaker:
    """``wanted``: masks for one reply. ``begin`` does a piece of work after those that wait.

    ``pause`` waits on that thread. What stands against making more is told in ``tally.reason``.
    """

    def __init__(
        self,
        wanted: int,
        begin: Begin,
        *,
        ranges: Callable[[], RangeFile] = device_ranges,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.wanted = wanted
        self.tally = MaskTally()
        self._begin, self._open_ranges = begin, ranges
        self._clock, self._pause = clock, pause
        self._asked = clock()
        self._stopped = False

    def asked(self) -> None:
        """A state is asked for: what is being made waits."""
        self._asked = self._clock()

    def fill(self, made: Future[HostSession]) -> None:
        """Make masks for the session that ``made`` brings, until its reply begins."""
        if self.wanted and not self._stopped:
            self._begin(lambda link: self._first(link, made))

    def _first(self, link: HostLink, made: Future[HostSession]) -> None:
        if made.cancelled() or made.exception() is not None:
            return
        session = made.result()
        each = 8 * (session.plan.hidden + session.plan.rank)
        most = min(self.wanted, session.most_masks, _MOST_BYTES // each)
        if not session.most_masks:
            self._stop("this host makes none")
        self._next(link, _Filling(session, most))

    def _next(self, link: HostLink, filling: _Filling) -> None:
        """One mask, then the turn of what else waits."""
        masks = filling.session.masks
        if not masks.open or len(masks) >= filling.most or filling.seconds > _MAKING_SECONDS:
            return
        if self._clock() - self._asked < _QUIET_SECONDS:
            self._pause(_LOOK_SECONDS)
        elif not self._made(link, filling):
            return
        self._begin(lambda again: self._next(again, filling))

    def _made(self, link: HostLink, filling: _Filling) -> bool:
        begun = self._clock()
        try:
            if filling.number == filling.end:
                filling.take(self._reserved(link, filling))
            filling.session.make_mask(link, filling.number)
        except (AdapterHostUnreachable, AdapterHostRefused) as error:
            # Tried again for the next reply; its own words are about a reply that stops.
            gone = isinstance(error, AdapterHostUnreachable)
            self.tally.reason = "the adapter host cannot be reached" if gone else str(error)
            return False
        except (AdapterHostError, MasksError, OSError) as error:
            self._stop(str(error))
            return False
        filling.number += 1
        filling.seconds += self._clock() - begun
        self.tally.reason = ""
        return True

    def _stop(self, reason: str) -> None:
        """Ask for no more ranges: each would be spent for nothing."""
        self._stopped, self.tally.reason = True, reason

    def _reserved(self, link: HostLink, filling: _Filling) -> MaskRange:
        """A range that both sides have on their disks."""
        wanted = min(_IN_A_RANGE, filling.most - len(filling.session.masks))
        try:
            given = MaskRange.parse(filling.session.reserve(link, wanted))
        except MalformedRange as error:
            raise AdapterHostInvalid(str(error)) from error
        if given.count > wanted:
            raise AdapterHostInvalid(f"{given.count} masks where {wanted} were asked for")
        self._open_ranges().accept(given)
        return given


@dataclass(slots=True)
class _Filling:
    """``number`` is made next, of a range that ends before ``end``; ``seconds`` were spent."""

    session: HostSession
    most: int
    number: int = 0
    end: int = 0
    seconds: float = 0.0

    def take(self, given: MaskRange) -> None:
        self.number, self.end = given.first, given.end
