"""A session on a split server, as the decode loop's backend."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from split_client.errors import ClientError
from split_client.generation.backend import CacheLost, Rows, StepOutput
from split_client.transport.asking import Asking
from split_client.transport.channel import Channel
from split_client.transport.routing.moving import Moving
from split_client.transport.seeing import Seeing
from split_client.transport.under_way import UnderWay, interactive_rows, max_rows
from split_wire.attention import AttentionRequest
from split_wire.client import ChunksFound, ClientProtocol, SessionRestored
from split_wire.codec import decode_server_message
from split_wire.digest import PrefixChain
from split_wire.documents.chunks import Chunk, Named
from split_wire.errors import SplitError
from split_wire.hiding.spans import Spans
from split_wire.messages import Closed, Opened
from split_wire.splice import Kept
from split_wire.tensor import Tensor, WireDtype
from split_wire.tiers import Cache

BUSY_PATIENCE = 60.0
_CLOSE_WITHIN = 2.0
# Rows that are named at a time.
_AT_ONCE = 512


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
        self._asking = Asking(
            channel,
            self._protocol,
            busy_patience,
            self.close,
            clock=clock,
            pause=pause,
            chance=chance,
        )
        self._under_way = UnderWay(channel, self._protocol, self._asking, clock)
        self._seeing = Seeing(self._protocol, self._asking)
        if channel.route is not None:
            channel.route.carries(self._protocol)
        self._prepared = False
        self.sessions_opened = 0

    @property
    def max_rows(self) -> int:
        """Rows that one step may carry."""
        return max_rows(self._opened())

    @property
    def max_context(self) -> int:
        """Positions that the session may hold."""
        return min(self._opened().max_context, self._manifest_context)

    @property
    def interactive_rows(self) -> int:
        """Rows with which a step still is interactive, as the server says."""
        return interactive_rows(self._opened())

    @property
    def dtype(self) -> WireDtype:
        """The dtype in which hidden states travel; before a session is open that of the last one,
        if there was any.
        """
        if self._protocol.opened is None and self._usual_dtype is not None:
            return self._usual_dtype
        return self._opened().dtype

    @property
    def replica(self) -> str | None:
        """What the server of the open session calls itself among several of one address."""
        opened = self._protocol.opened
        return None if opened is None else opened.replica

    @property
    def streamed(self) -> int:
        """Layers that the server of the open session reads from disk in each pass."""
        opened = self._protocol.opened
        return 0 if opened is None else opened.streamed

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
        self._asked = None
        self._under_way.clear()
        if self._prepared:
            self._prepared = False
            self._begin(None)
            return None
        went_through = self._under_way.resume() if self._protocol.stepping else None
        if self._protocol.opened is not None:
            # What a restore without an answer has done to the rows behind its start is not known.
            self._protocol.give_up()
        elif self._protocol.outstanding is not None:
            # Nobody knows the session that an unanswered request for one may have made.
            self._protocol.forget()
        if self._protocol.opened is None:
            self._asking.back_off()
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
        event = self._asking.ask(lambda: self._protocol.restore(start, chain))
        if not isinstance(event, SessionRestored):
            raise self._asking.untrue("the answer to a restore is not its result")
        return event.cached

    @property
    def hides(self) -> bool:
        """As :attr:`Hides.hides`."""
        return self._protocol.hides

    def sees_all_but(self, hidden: Spans, held: int) -> bool:
        """As :meth:`Hides.sees_all_but`."""
        return self._seeing.sees_all_but(hidden, held)

    def see_all_but(self, hidden: Spans, message: Spans) -> None:
        """As :meth:`Hides.see_all_but`. Raises CacheLost, ServerRefused (``unsupported``,
        ``spans_refused``) and what :meth:`open` raises.
        """
        self._seeing.see_all_but(hidden, message)

    def _begin(self, wanted: Rows | None) -> None:
        """Open a session, with what is ``wanted`` where it is known how that will travel."""
        dtype, chain = self._usual_dtype, None
        if wanted is not None and dtype is not None and self._keeps:
            # What was prepared asks for nothing.
            chain = None if self._protocol.outstanding else self._named(wanted, dtype)
        moving = Moving(self._protocol, lambda: self._channel.move(self._protocol))
        self._asking.ask(lambda: self._protocol.open(chain, wait=moving.waits), moving.refused)
        if chain is not None:
            self._asked = wanted if self.dtype == dtype else None
        self._usual_dtype = self.dtype
        self._asking.opened(self.replica)
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
    def splices(self) -> bool:
        """Whether the open session takes edits inside a prompt."""
        return self._protocol.splices

    @property
    def blends(self) -> bool:
        """Whether it computes a share of the rows anew that an edit keeps."""
        return self._protocol.blends

    def splice(
        self,
        start: int,
        spans: tuple[Kept, ...],
        embeddings: NDArray[np.float32],
        blend: float = 0.0,
        sources: bytes = b"",
    ) -> StepOutput:
        """Keep ``start`` positions of the open session and ``spans`` at their new places;
        ``embeddings`` [n, H] come between them and behind, or with a ``blend`` are those of all
        positions behind ``start``. ``sources``: the names of the chunks that have the spans, in
        place of the session. Raises as :meth:`step`.
        """
        self._under_way.begin_splice(start, spans, embeddings, blend, sources)
        return self._under_way.settle()

    @property
    def finds(self) -> bool:
        """As :attr:`Finds.finds`."""
        return self._keeps and self._protocol.finds

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """As :attr:`Finds.chunks`."""
        return self._protocol.chunks

    @chunks.setter
    def chunks(self, chunks: tuple[Chunk, ...]) -> None:
        self._protocol.chunks = chunks

    def find(self, wanted: Iterable[Named]) -> tuple[int, ...]:
        """As :meth:`Finds.find`. Raises as :meth:`step`."""
        named = [*wanted]
        event = self._asking.ask(lambda: self._protocol.find(named))
        if not isinstance(event, ChunksFound):
            raise self._asking.untrue("the answer to a find is not its result")
        return event.known

    @property
    def most_under_way(self) -> int:
        """Steps of a prefill that pay to have under way; HTTP carries one at a time."""
        return self._under_way.most

    def begin(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> None:
        """Send a step of the open session, as :meth:`step`, without waiting for its answer."""
        self._under_way.begin(start, embeddings, attention, adapter, rows)

    def settle(self) -> StepOutput:
        """The answer to the oldest step that was begun. Raises as :meth:`step`."""
        return self._under_way.settle()

    def close(self, keep: bool = True, chunks: bytes = b"") -> bool:
        """End the session as far as the server can be reached.

        ``keep``: false has the server delete what it keeps of the session, and the ``chunks`` of
        these names, 16 bytes each; for that the connection is made again where it is lost. Whether
        the server has said that it did; False also where no session is open.
        """
        self._take_prepared()
        frame = self._protocol.close(keep, chunks)
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

    def _opened(self) -> Opened:
        if self._protocol.opened is None:
            raise RuntimeError("the session is not open")
        return self._protocol.opened
