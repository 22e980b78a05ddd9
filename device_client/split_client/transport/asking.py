"""Frames exchanged for answers: a full server asked again for a while, untrue answers refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from split_client.errors import AnswerInvalid, ModelBusy, ModelChanged, ModelLoading, ServerRefused
from split_client.generation.backend import CacheLost
from split_client.transport.channel import Channel
from split_client.transport.served.loading import LOADING_PATIENCE, notice_of, pause_for
from split_wire.client import ClientProtocol, Event, Ignored, StepFailed, StepReplaced
from split_wire.errors import (
    InternalError,
    MalformedMessage,
    SplitError,
    TooManySessions,
    UnknownSession,
)
from split_wire.errors import ModelChanged as WireModelChanged

# The server holds another cache than the device believes, or none: a new session repairs it.
_CACHE_LOST = frozenset(
    {"unknown_session", "prefix_mismatch", "start_beyond_cache", "step_conflict"}
)
_MAX_STALE_ANSWERS = 3
# Of the patience: a chat ends later than a queue is served.
_PLACE_PATIENCE = 5
_SOON = 10.0


class Asking:
    """What ``protocol`` has outstanding, asked over ``channel`` until the server answers.

    ``busy_patience``: seconds to wait for a server that is full, and five times as long for one
    whose sessions are all in use. ``on_lost`` ends the session where the server lost its cache.
    """

    def __init__(
        self,
        channel: Channel,
        protocol: ClientProtocol,
        busy_patience: float,
        on_lost: Callable[[], object],
        *,
        clock: Callable[[], float],
        pause: Callable[[float], None],
        chance: Callable[[], float],
    ) -> None:
        self._channel, self._protocol = channel, protocol
        self._busy_patience, self._on_lost = busy_patience, on_lost
        self._clock, self._pause, self._chance = clock, pause, chance
        self._waited = 0.0
        self._opened_at = -math.inf
        # Where the session is: on which of the channel's connections, at which replica.
        self._connection = 0
        self._replica: str | None = None
        # Sessions in a row that were lost so soon, with the server going on.
        self._lost_soon = 0

    def opened(self, replica: str | None) -> None:
        """A session was opened at this moment, at a server that calls itself so."""
        self._opened_at = self._clock()
        self._connection = self._channel.connections
        if replica != self._replica:
            # Its neighbour has not taken anything from anybody.
            self._lost_soon = 0
        self._replica = replica

    def ask(
        self,
        make: Callable[[], object],
        elsewhere: Callable[[ServerRefused], bool] = lambda _: False,
    ) -> Event:
        """The next answer to what is outstanding, or to what ``make`` makes; a full server is asked
        again for a while. ``elsewhere``: whether another one may be asked at once.
        """
        deadline: float | None = None
        for attempt in count():
            try:
                # A refusal in HTTP's words leaves the frame outstanding; one in a frame wants it
                # made again.
                if self._protocol.outstanding is None:
                    make()
                return self._exchange()
            except ServerRefused as refused:
                self._raise_final(refused)
                if elsewhere(refused):
                    continue
                deadline = deadline or self._clock() + self._patience(refused)
                self._wait(refused, attempt, deadline)
        raise AssertionError("unreachable")

    def back_off(self) -> None:
        """Wait before a session takes the place of one that was lost soon after it was opened:
        where more devices talk than there are sessions, coming back at once costs another its own.
        """
        if self._lost_soon:
            self._pause(self._channel.patience.delay(self._lost_soon, self._chance()))

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time in here as waited for."""
        began = self._clock()
        try:
            yield
        finally:
            self._waited += self._clock() - began

    def take_waited(self) -> float:
        """Seconds that were waited since this was last asked."""
        waited, self._waited = self._waited, 0.0
        return waited

    def untrue(self, reason: str) -> AnswerInvalid:
        """The error for an answer that is not true, for ``reason``; ends session and connection."""
        return self._invalid(MalformedMessage(reason))

    def _exchange(self) -> Event:
        stale = 0
        while stale < _MAX_STALE_ANSWERS:
            with self.waiting():
                answer = self._channel.exchange(*self._protocol.unanswered)
            try:
                event = self._protocol.receive(answer)
            except WireModelChanged as error:
                self._protocol.forget()
                raise ModelChanged from error
            except SplitError as error:
                raise self._invalid(error) from error
            if isinstance(event, StepFailed):
                raise ServerRefused.of(event.failure.error())
            if not isinstance(event, Ignored | StepReplaced):
                return event
            stale += isinstance(event, Ignored)
        raise self.untrue("the answers belong to other requests")

    def _invalid(self, error: SplitError) -> AnswerInvalid:
        """The session is over, and so is the connection, on which more may come that is untrue."""
        self._protocol.forget()
        self._channel.close()
        return AnswerInvalid(error)

    def _raise_final(self, refused: ServerRefused) -> None:
        if refused.code in _CACHE_LOST:
            self._lost_soon = self._lost_soon + 1 if self._made_way() else 0
            if refused.code == UnknownSession.code:
                # There is nothing to close, and over HTTP that would be one more round trip.
                self._protocol.forget()
            else:
                # What the server still holds would count against its limits until it expires.
                self._on_lost()
            raise CacheLost from refused
        # Whoever holds the memory is somebody's chat, which no patience ends.
        if not refused.retryable or isinstance(refused, ModelBusy):
            if refused.code == InternalError.code:
                self._protocol.forget()
            raise refused

    def _made_way(self) -> bool:
        """Whether a session that is lost now made way for somebody else's: soon after it was
        opened, and not with the connection, as where its server died.
        """
        soon = self._clock() - self._opened_at < _SOON
        return soon and self._channel.connections == self._connection

    def _patience(self, refused: ServerRefused) -> float:
        """Seconds to ask again for, of whoever has any at all."""
        if isinstance(refused, ModelLoading):
            return LOADING_PATIENCE if self._busy_patience else 0.0
        several = _PLACE_PATIENCE if refused.code == TooManySessions.code else 1
        return self._busy_patience * several

    def _wait(self, refused: ServerRefused, attempt: int, deadline: float) -> None:
        delay = max(refused.retry_after or 0.0, self._channel.patience.delay(attempt, 1.0))
        if isinstance(refused, ModelLoading):
            delay = pause_for(refused)
        if self._clock() + delay > deadline:
            raise refused
        if isinstance(refused, ModelLoading):
            self._channel.tell(notice_of(refused, attempt))
        with self.waiting():
            self._pause(delay)
