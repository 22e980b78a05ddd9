"""A session on a split server, as the decode loop's backend."""

from __future__ import annotations

import math
import random
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

import numpy as np
from numpy.typing import NDArray

from split_client.errors import AnswerInvalid, ClientError, ModelChanged, ServerRefused
from split_client.generation.backend import CacheLost, OnlyAllRows, Rows, StepOutput
from split_client.transport.channel import Channel
from split_client.transport.window import Window
from split_wire.attention import AttentionRequest
from split_wire.client import (
    ClientProtocol,
    Event,
    Ignored,
    SessionRestored,
    StepCompleted,
    StepFailed,
    StepReplaced,
)
from split_wire.codec import decode_server_message
from split_wire.digest import PrefixChain
from split_wire.errors import InternalError, MalformedMessage, SplitError, TooManySessions
from split_wire.errors import ModelChanged as WireModelChanged
from split_wire.messages import DEFAULT_MAX_ROWS, Cache, Closed, Opened
from split_wire.returned import Rows as Returned
from split_wire.tensor import Tensor, WireDtype

# The server holds another cache than the device believes, or none: a new session repairs it.
_CACHE_LOST = frozenset(
    {"unknown_session", "prefix_mismatch", "start_beyond_cache", "step_conflict"}
)
_MAX_STALE_ANSWERS = 3
BUSY_PATIENCE = 60.0
# Of that: a chat ends later than a queue is served.
_PLACE_PATIENCE = 5
_SOON = 10.0
_CLOSE_WITHIN = 2.0
# Rows that are named at a time.
_AT_ONCE = 512


class _NotDone(Exception):
    """The step that was sent again was refused, and is not made once more."""


def _nothing_else() -> None:
    raise _NotDone


@dataclass(frozen=True, slots=True)
class _Begun:
    """``make``: makes the frame of ``sent`` rows, again where it was refused; ``rows``: states that
    are wanted.
    """

    make: Callable[[], bytes]
    sent: int
    rows: int


class RemoteBackend:
    """One session at a time over ``channel``.

    ``busy_patience``: seconds to wait for a server that is full, and five times as long for one
    whose sessions are all in use.
    """

    def __init__(
        self,
        channel: Channel,
        hidden_size: int,
        manifest: str,
        max_context: int,
        dtype: WireDtype | None = None,
        *,
        cache_salt: str | None = None,
        cache: Cache = "exact",
        cache_group: str | None = None,
        share_until: int = 0,
        busy_patience: float = BUSY_PATIENCE,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._channel = channel
        self._protocol = ClientProtocol(
            hidden_size, manifest, dtype, cache_salt, cache, cache_group, share_until
        )
        # That of the session before, in which the next one's rows are named.
        self._usual_dtype = dtype
        self._keeps = cache != "off"
        self._asked: Rows | None = None
        self._manifest_context = max_context
        self._busy_patience, self._clock, self._pause = busy_patience, clock, pause
        self._chance = chance
        self._waited = 0.0
        self._window = Window()
        # What makes the frames of the steps under way, and what later answers told of earlier ones.
        self._begun: deque[_Begun] = deque()
        self._began: float | None = None
        self._settled: deque[StepOutput] = deque()
        self._opened_at = -math.inf
        self._prepared = False
        # Sessions in a row that were lost so soon.
        self._lost_soon = 0
        self.sessions_opened = 0

    @property
    def max_rows(self) -> int:
        """Rows that one step may carry."""
        return min(self._opened().max_rows, DEFAULT_MAX_ROWS)

    @property
    def max_context(self) -> int:
        """Positions that the session may hold."""
        return min(self._opened().max_context, self._manifest_context)

    @property
    def interactive_rows(self) -> int:
        """Rows with which a step still is interactive, as the server says."""
        return min(self._opened().interactive_rows, self.max_rows)

    @property
    def dtype(self) -> WireDtype:
        """The dtype in which hidden states travel; before a session is open that of the last one,
        if there was any.
        """
        if self._protocol.opened is None and self._usual_dtype is not None:
            return self._usual_dtype
        return self._opened().dtype

    @property
    def restores(self) -> bool:
        """Whether the open session can be asked for what the server kept."""
        return self._keeps and self._protocol.restores

    def open(self, wanted: Rows | None = None) -> int | None:
        """Open a session unless there is one; steps that were broken off are sent again first.

        ``wanted``: rows that a new session may begin with, as far as the server holds them. Returns
        how many of those steps went through, None where there were none. Raises ServerRefused,
        ModelChanged, AnswerInvalid and the channel's errors.
        """
        self._asked, self._began = None, None
        self._begun.clear()
        self._settled.clear()
        if self._prepared:
            self._prepared = False
            self._begin(None)
            return None
        went_through = self._resumed() if self._protocol.stepping else None
        if self._protocol.opened is not None:
            # What a restore without an answer has done to the rows behind its start is not known.
            self._protocol.give_up()
        elif self._protocol.outstanding is not None:
            # Nobody knows the session that an unanswered request for one may have made.
            self._protocol.forget()
        if self._protocol.opened is None:
            self._back_off()
            self._begin(wanted)
            return None
        return went_through

    def prepare(self) -> None:
        """Ask for a session ahead of time, without waiting for the answer; not where one is open,
        or the connection carries one frame at a time. What fails shows when it is needed.
        """
        idle = self._protocol.opened is None and self._protocol.outstanding is None
        if idle and self._channel.prepare():
            self._channel.post(self._protocol.open())
            self._prepared = True

    def held(self, wanted: Rows, start: int) -> int:
        """How many of the first rows of ``wanted`` the open session holds, of which it holds
        ``start`` for certain; the server is asked for more unless it was with the opening.

        Raises CacheLost and what :meth:`open` raises.
        """
        if self._asked is wanted:
            return self._protocol.cached
        if start > self._protocol.cached:
            raise CacheLost
        if not self.restores:
            return start
        chain = self._named(wanted, self.dtype)
        event = self._ask(lambda: self._protocol.restore(start, chain))
        if not isinstance(event, SessionRestored):
            raise self._untrue("the answer to a restore is not its result")
        return event.cached

    def _begin(self, wanted: Rows | None) -> None:
        """Open a session, with what is ``wanted`` where it is known how that will travel."""
        dtype = self._usual_dtype
        if wanted is None or dtype is None or not self._keeps or self._protocol.outstanding:
            self._ask(self._protocol.open)
        else:
            chain = self._named(wanted, dtype)
            self._ask(lambda: self._protocol.open(chain))
            self._asked = wanted if self.dtype == dtype else None
        self._usual_dtype = self.dtype
        self._opened_at = self._clock()
        self.sessions_opened += 1

    def _named(self, rows: Rows, dtype: WireDtype) -> PrefixChain:
        """The names of all prefixes of ``rows`` as they travel in ``dtype``."""
        chain = self._protocol.new_chain()
        for start in range(0, len(rows), _AT_ONCE):
            part = rows.part(start, min(start + _AT_ONCE, len(rows)))
            chain.replace(start, chain.following(start, Tensor.from_f32(part, dtype)))
        return chain

    def step(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> StepOutput:
        """Append ``embeddings`` [n, H] after ``start`` cached positions.

        ``attention``: which attention of the last row to return as well; a server that does not
        offer it is not asked (ServerRefused, ``unsupported`` or ``attention_too_large``).
        ``adapter``: the name of one that the server applies (ServerRefused, ``unknown_adapter``).
        ``rows``: states of how many of the last rows come back. Raises CacheLost, OnlyAllRows where
        the server does not count them and there are more than a few, ServerRefused, AnswerInvalid
        and the channel's errors.
        """
        self.open()
        self.begin(start, embeddings, attention, adapter, rows)
        return self.settle()

    @property
    def most_under_way(self) -> int:
        """Steps of a prefill that pay to have under way; HTTP carries one at a time."""
        return self._window.most if self._channel.streams else 1

    def begin(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> None:
        """Send a step of the open session, as :meth:`step`, without waiting for its answer."""
        if self._protocol.opened is None or start > self._protocol.reach:
            raise CacheLost
        returned = self._returned(rows, len(embeddings))
        if attention is not None:
            self._make_room(attention, start + len(embeddings))
        step = partial(self._protocol.step, start, embeddings, returned, attention, adapter)
        begun = _Begun(step, len(embeddings), rows)
        begun.make()
        if not self._begun:
            self._began = self._clock()
        self._begun.append(begun)
        with self._waiting():
            self._channel.post(*self._protocol.unanswered)

    def settle(self) -> StepOutput:
        """The answer to the oldest step that was begun. Raises as :meth:`step`."""
        if not self._settled:
            event = self._ask(self._make_again)
            if not isinstance(event, StepCompleted):
                raise self._untrue("the answer to a step is not its result")
            self._settle(event)
        begun, output = self._begun.popleft(), self._settled.popleft()
        return replace(output, hidden=output.hidden[-begun.rows :])

    def _settle(self, event: StepCompleted) -> None:
        compute, queue = event.compute_us, event.queue_us
        if self._began is not None:
            waited = self._clock() - self._began
            self._window.stepped(self._begun[0].sent, waited, compute / 1e6, queue / 1e6)
            self._began = None
        exchange, self._waited = round(1e6 * self._waited), 0.0
        self._settled.extend([StepOutput(event.hidden[:0], 0, 0)] * event.unseen)
        output = StepOutput(event.hidden, compute, queue, exchange, event.attention, event.reused)
        self._settled.append(output)

    def _make_again(self) -> None:
        """Make the frames of the steps under way, all of which were dropped by a refusal."""
        for begun in self._begun:
            begun.make()

    def _returned(self, rows: int, sent: int) -> Returned:
        """How the last ``rows`` of ``sent`` are asked for; makes room for the answer."""
        if rows == 1:
            return "last"
        counts = self._protocol.counts_rows
        if not counts and rows < sent > self.interactive_rows:
            raise OnlyAllRows
        self._channel.accept(self._protocol.answer_room(rows if counts else sent))
        return rows if counts and rows < sent else "all"

    def _resumed(self) -> int:
        """How many of the steps that were broken off go through: a server answers the same bytes
        once, and from memory when it has answered them before.
        """
        went_through = 0
        try:
            while self._protocol.stepping:
                event = self._ask(_nothing_else)
                if isinstance(event, StepCompleted):
                    went_through += 1 + event.unseen
        except (CacheLost, _NotDone):
            pass
        except ServerRefused:
            # A refusal in a frame answers it: the session holds what it held before.
            if self._protocol.stepping:
                raise
        return went_through

    def _back_off(self) -> None:
        """Wait before a session takes the place of one that was lost soon after it was opened:
        where more devices talk than there are sessions, coming back at once costs another its own.
        """
        if self._lost_soon:
            self._pause(self._channel.patience.delay(self._lost_soon, self._chance()))

    def close(self, keep: bool = True) -> bool:
        """End the session as far as the server can be reached.

        ``keep``: false has the server delete what it keeps of the session; for that the connection
        is made again where it is lost. Whether the server has said that it did; False also where no
        session is open.
        """
        self._take_prepared()
        frame = self._protocol.close(keep)
        if frame is None:
            return False
        if keep:
            self._channel.send_once(frame, _CLOSE_WITHIN)
            return False
        try:
            return isinstance(decode_server_message(self._channel.exchange(frame), 1 << 16), Closed)
        except (ClientError, SplitError):
            return False

    def _take_prepared(self) -> None:
        """Learn the name of a session that was asked for ahead of time, to close it."""
        asked, prepared, self._prepared = self._protocol.outstanding, self._prepared, False
        if not prepared or asked is None:
            return
        answer = self._channel.answer_within(asked, _CLOSE_WITHIN)
        if answer is not None:
            with suppress(SplitError):
                self._protocol.receive(answer)

    def _make_room(self, attention: AttentionRequest, positions: int) -> None:
        try:
            self._channel.accept(self._protocol.attention_room(attention, positions))
        except SplitError as error:
            raise ServerRefused(error.code, str(error)) from error

    def _opened(self) -> Opened:
        if self._protocol.opened is None:
            raise RuntimeError("the session is not open")
        return self._protocol.opened

    def _ask(self, make: Callable[[], object]) -> Event:
        """The next answer to what is outstanding, or to what ``make`` makes; a full server is asked
        again for a while.
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
                patience = self._busy_patience
                if refused.code == TooManySessions.code:
                    patience *= _PLACE_PATIENCE
                deadline = deadline or self._clock() + patience
                self._wait(refused, attempt, deadline)
        raise AssertionError("unreachable")

    def _exchange(self) -> Event:
        stale = 0
        while stale < _MAX_STALE_ANSWERS:
            with self._waiting():
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
        raise self._untrue("the answers belong to other requests")

    def _untrue(self, reason: str) -> AnswerInvalid:
        return self._invalid(MalformedMessage(reason))

    def _invalid(self, error: SplitError) -> AnswerInvalid:
        """The session is over, and so is the connection, on which more may come that is untrue."""
        self._protocol.forget()
        self._channel.close()
        return AnswerInvalid(error)

    def _raise_final(self, refused: ServerRefused) -> None:
        if refused.code in _CACHE_LOST:
            soon = self._clock() - self._opened_at < _SOON
            self._lost_soon = self._lost_soon + 1 if soon else 0
            # What the server may still hold would count against its limits until it expires.
            self.close()
            raise CacheLost from refused
        if not refused.retryable:
            if refused.code == InternalError.code:
                self._protocol.forget()
            raise refused

    def _wait(self, refused: ServerRefused, attempt: int, deadline: float) -> None:
        delay = max(refused.retry_after or 0.0, self._channel.patience.delay(attempt, 1.0))
        if self._clock() + delay > deadline:
            raise refused
        with self._waiting():
            self._pause(delay)

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        began = self._clock()
        try:
            yield
        finally:
            self._waited += self._clock() - began
