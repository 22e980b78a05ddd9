"""Steps of a session that are sent and not answered yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from split_client.errors import ServerRefused
from split_client.generation.backend import CacheLost, OnlyAllRows, StepOutput
from split_client.transport.asking import Asking
from split_client.transport.channel import Channel
from split_client.transport.window import Window
from split_wire.attention import AttentionRequest
from split_wire.client import ClientProtocol, StepCompleted
from split_wire.errors import SplitError
from split_wire.messages import DEFAULT_MAX_ROWS, Opened
from split_wire.returned import Rows as Returned
from split_wire.splice import Kept


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


def max_rows(opened: Opened) -> int:
    """Rows that one step of a session may carry."""
    return min(opened.max_rows, DEFAULT_MAX_ROWS)


def interactive_rows(opened: Opened) -> int:
    """Rows with which a step of a session still is interactive, as the server says."""
    return min(opened.interactive_rows, max_rows(opened))


class UnderWay:
    """Sends steps of the open session of ``protocol`` and takes their answers, oldest first."""

    def __init__(
        self,
        channel: Channel,
        protocol: ClientProtocol,
        asking: Asking,
        clock: Callable[[], float],
    ) -> None:
        self._channel, self._protocol, self._asking = channel, protocol, asking
        self._clock = clock
        self._window = Window()
        # What makes the frames of the steps under way, and what later answers told of earlier ones.
        self._begun: deque[_Begun] = deque()
        self._began: float | None = None
        self._settled: deque[StepOutput] = deque()

    @property
    def most(self) -> int:
        """Steps of a prefill that pay to have under way; HTTP carries one at a time."""
        return self._window.most if self._channel.streams else 1

    def clear(self) -> None:
        """Wait for none of them any more."""
        self._began = None
        self._begun.clear()
        self._settled.clear()

    def begin(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> None:
        """Send a step, as :meth:`RemoteBackend.step`, without waiting for its answer."""
        opened = self._protocol.opened
        if opened is None or start > self._protocol.reach:
            raise CacheLost
        returned = self._returned(opened, rows, len(embeddings))
        if attention is not None:
            self._make_room(attention, start + len(embeddings))
        step = partial(self._protocol.step, start, embeddings, returned, attention, adapter)
        self._send(_Begun(step, len(embeddings), rows))

    def begin_splice(
        self,
        start: int,
        spans: tuple[Kept, ...],
        embeddings: NDArray[np.float32],
        blend: float = 0.0,
        sources: bytes = b"",
    ) -> None:
        """Send a step that moves rows, without waiting for its answer; none may be under way.

        Raises CacheLost.
        """
        if self._protocol.opened is None or start > self._protocol.reach:
            raise CacheLost
        splice = partial(self._protocol.splice, start, spans, embeddings, blend, sources)
        self._send(_Begun(splice, len(embeddings), 1))

    def _send(self, begun: _Begun) -> None:
        begun.make()
        if not self._begun:
            self._began = self._clock()
        self._begun.append(begun)
        with self._asking.waiting():
            self._channel.post(*self._protocol.unanswered)

    def settle(self) -> StepOutput:
        """The answer to the oldest step that was begun. Raises as :meth:`RemoteBackend.step`."""
        if not self._settled:
            event = self._asking.ask(self._make_again)
            if not isinstance(event, StepCompleted):
                raise self._asking.untrue("the answer to a step is not its result")
            self._settle(event)
        begun, output = self._begun.popleft(), self._settled.popleft()
        return replace(output, hidden=output.hidden[-begun.rows :])

    def resume(self) -> int:
        """How many of the steps that were broken off go through: a server answers the same bytes
        once, and from memory when it has answered them before.
        """
        went_through = 0
        try:
            while self._protocol.stepping:
                event = self._asking.ask(_nothing_else)
                if isinstance(event, StepCompleted):
                    went_through += 1 + event.unseen
        except (CacheLost, _NotDone):
            pass
        except ServerRefused:
            # A refusal in a frame answers it: the session holds what it held before.
            if self._protocol.stepping:
                raise
        return went_through

    def _settle(self, event: StepCompleted) -> None:
        compute, queue = event.compute_us, event.queue_us
        if self._began is not None:
            waited = self._clock() - self._began
            self._window.stepped(self._begun[0].sent, waited, compute / 1e6, queue / 1e6)
            self._began = None
        exchange = round(1e6 * self._asking.take_waited())
        self._settled.extend([StepOutput(event.hidden[:0], 0, 0)] * event.unseen)
        output = StepOutput(
            event.hidden, compute, queue, exchange, event.attention, event.reused, event.tiers
        )
        self._settled.append(output)

    def _make_again(self) -> None:
        """Make the frames of the steps under way, all of which were dropped by a refusal."""
        for begun in self._begun:
            begun.make()

    def _returned(self, opened: Opened, rows: int, sent: int) -> Returned:
        """How the last ``rows`` of ``sent`` are asked for; makes room for the answer."""
        if rows == 1:
            return "last"
        counts = self._protocol.counts_rows
        if not counts and rows < sent > interactive_rows(opened):
            raise OnlyAllRows
        self._channel.accept(self._protocol.answer_room(rows if counts else sent))
        return rows if counts and rows < sent else "all"

    def _make_room(self, attention: AttentionRequest, positions: int) -> None:
        try:
            self._channel.accept(self._protocol.attention_room(attention, positions))
        except SplitError as error:
            raise ServerRefused(error.code, str(error)) from error
