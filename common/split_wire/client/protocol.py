"""The device's side of one session as a state machine without I/O.

Feed it what the transport received, send what it returns. One message is outstanding at a time, but
for the steps of one prefill, of which several may be under way over a transport that keeps their
order. After a lost connection send :attr:`ClientProtocol.unanswered` again, in that order: the
server appends a step once, however often it arrives. An ``open`` that is sent again may open a
second session, which the server drops when it has been idle for long.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from split_wire.attention import AttentionRequest
from split_wire.client.checks import check_rows, checked_attention, checked_hidden
from split_wire.client.events import (
    Event,
    Ignored,
    OtherDtype,
    ProtocolStateError,
    SessionOpened,
    SessionRestored,
    StepCompleted,
    StepFailed,
    StepReplaced,
)
from split_wire.client.finding import FindingSession
from split_wire.client.narrowing import narrowed
from split_wire.codec import decode_server_message, encode_message
from split_wire.digest import PrefixChain, linked
from split_wire.documents.finding import Found
from split_wire.errors import MalformedMessage, ModelChanged, Unsupported
from split_wire.hiding.seeing import Hidden
from split_wire.hiding.spans import cut
from split_wire.limits import frame_limit
from split_wire.messages import (
    Close,
    Closed,
    Failure,
    Open,
    Opened,
    Pong,
    Restore,
    Restored,
    Result,
    Splice,
    Step,
)
from split_wire.probe import Probe
from split_wire.returned import CAPABILITY as ROWS
from split_wire.returned import Rows, counted
from split_wire.splice import (
    Kept,
    blend_field,
    end_of,
    spans_field,
    spans_value,
    spliced,
)
from split_wire.tensor import Tensor
from split_wire.under_way import MOST_STEPS, SentStep

# Between two places at which a session is asked for what goes on from all that it holds.
_BLOCKS_BEHIND = 4


class ClientProtocol(FindingSession):
    """One session at a time, any number in a row."""

    def open(self, chain: PrefixChain | None = None, *, wait: bool = False) -> bytes:
        """Ask for a session; a previous one is forgotten.

        ``chain``: of rows in the dtype that is asked for, of which the session may begin with as
        many as the server holds. ``wait``: whether a full one may let the device wait.
        """
        self.forget()
        asks = chain is not None and len(chain) > 0 and self._cache != "off"
        self._asked = (chain, 0) if asks and chain is not None else None
        message = Open(
            self._manifest,
            self._dtype,
            probe=None if self._asked is None else Probe.of(self._asked[0]),
            cache_salt=self._salt,
            cache=self._cache,
            cache_group=self._group,
            share_until=self._share_until,
            wait=wait,
        )
        self._outstanding = encode_message(message)
        return self._outstanding

    def restore(self, start: int, chain: PrefixChain) -> bytes:
        """Ask the open session to hold as much of ``chain``, whose first ``start`` positions it
        holds, as the server has. Raises ProtocolStateError.

        Behind all that the session holds it is asked at fewer places: what comes there is new as a
        rule, and the names of all that is held already would go with it.
        """
        opened = self._opened
        if opened is None or self.unanswered or not self.restores:
            raise ProtocolStateError("this needs an open session that can restore, and is idle")
        held = 0 <= start <= min(self.cached, len(chain)) and len(chain) > 0
        if not held or chain.at(start) != self._chain.at(start):
            raise ProtocolStateError(f"start {start} of these rows is not held")
        self._asked = (chain, start)
        probe = Probe.of(chain, _BLOCKS_BEHIND if 0 < start == self.cached else 1)
        message = Restore(opened.session, start, self._chain.at(start), probe)
        self._outstanding = encode_message(message)
        return self._outstanding

    def step(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        rows: Rows = "last",
        attention: AttentionRequest | None = None,
        adapter: str | None = None,
    ) -> bytes:
        """The frame that keeps ``start`` positions and appends ``embeddings`` [n, H].

        While steps are under way, at most MOST_STEPS with this one, ``start`` is where they end.
        ``rows``: which states come back; a number counts the last ones, 1..n. ``adapter``: the name
        of one that the server shall apply to the rows that it returns. Raises ProtocolStateError,
        and before anything is sent what the server would answer:
        WrongShape, WrongHiddenSize, TooManyRows, ContextOverflow, NonFinite, Unsupported,
        AttentionTooLarge, and MalformedMessage for a layer that the model does not have.
        """
        if self._opened is None or self._outstanding is not None:
            raise ProtocolStateError("a step needs an open session without an outstanding message")
        self._check_start(start)
        check_rows(self._hidden_size, self._opened, start, embeddings)
        self._check_returned(rows, len(embeddings))
        asked = None
        if attention is not None:
            self.attention_room(attention, start + embeddings.shape[0])
            asked = self.asked_for(attention)
        tensor = Tensor.from_f32(embeddings, self._opened.dtype)
        prefix = self._steps.last.digests[-1] if self._steps else self._chain.at(start)
        number = self._next_step + len(self._steps)
        session = self._opened.session
        chunks = self._chunks_in(start, start + tensor.rows)
        message = Step(session, number, start, prefix, tensor, rows, adapter, asked, chunks)
        return self._sent(message, linked(prefix, tensor), attention)

    def splice(
        self,
        start: int,
        spans: Sequence[Kept],
        embeddings: NDArray[np.float32],
        blend: float = 0.0,
        sources: bytes = b"",
    ) -> bytes:
        """The frame of a step that keeps ``spans`` as well, at their new places, and brings the
        rows between them and behind as ``embeddings`` [n, H], with a ``blend`` those of all
        positions behind ``start``. ``sources``: the names of the chunks that have the spans, in
        place of the session.

        Steps may follow it before it is answered, and none may be under way. Raises
        ProtocolStateError, MalformedMessage for spans that a server refuses, and as :meth:`step`.
        """
        opened, prefix = self._opened, self._chain
        if opened is None or not self.splices or self.unanswered:
            raise ProtocolStateError("this needs an open session that can splice, and is idle")
        self._check_start(start)
        if blend and not self.blends:
            raise ProtocolStateError("the session computes none of the rows anew that it keeps")
        blend = blend_field(blend)
        kept = spans_field(spans_value(spans), start, len(embeddings), blend, sources=sources)
        if not sources and kept[-1].old + kept[-1].rows > self.cached:
            raise ProtocolStateError(f"the spans are beyond the {self.cached} cached positions")
        behind = end_of(start, kept, 0, blend)
        check_rows(self._hidden_size, opened, behind, embeddings)
        tensor = Tensor.from_f32(embeddings, opened.dtype)
        message = Splice(
            opened.session,
            self._next_step,
            start,
            prefix.at(start),
            tensor,
            spans=kept,
            blend=blend,
            sources=sources,
            # Which rows a blend computes is not known, so nothing of them has a name.
            chunks=() if blend else self._chunks_in(start, behind + tensor.rows),
        )
        return self._sent(message, spliced(prefix, start, kept, tensor, blend, sources))

    def _sent(
        self, message: Step, digests: list[bytes], attention: AttentionRequest | None = None
    ) -> bytes:
        frame = encode_message(message)
        self._steps.add(SentStep(message, digests, frame, attention))
        return frame

    def _check_start(self, start: int) -> None:
        under_way = len(self._steps)
        if under_way and (start != self.reach or under_way == MOST_STEPS):
            raise ProtocolStateError(f"{under_way} steps are under way, up to {self.reach}")
        if not 0 <= start <= self.reach:
            raise ProtocolStateError(f"start {start} is beyond the {self.cached} cached positions")

    def _check_returned(self, rows: Rows, sent: int) -> None:
        if rows in ("last", "all"):
            return
        if not counted(rows, sent):
            raise ProtocolStateError(f"of {sent} rows {rows!r} cannot be asked for")
        if not self.counts_rows:
            raise Unsupported(ROWS)

    def close(self, keep: bool = True, chunks: bytes = b"") -> bytes | None:
        """The frame that ends the session, None when there is none; the session is forgotten.

        ``keep``: false has the server keep nothing of it, nor of the ``chunks`` of these names.
        """
        opened = self._opened
        self.forget()
        return None if opened is None else encode_message(Close(opened.session, keep, chunks))

    def receive(self, data: bytes) -> Event:
        """Take one frame of the server.

        Raises the errors of ``split_wire.errors`` on an untrue answer; then nothing has changed,
        and the caller ends the session with :meth:`open` or :meth:`forget`.
        """
        message = decode_server_message(data, self._limit())
        match message:
            case Opened():
                return self._on_opened(message)
            case Restored():
                return self._on_restored(message)
            case Result():
                return self._on_result(message)
            case Hidden():
                return self._on_hidden(message)
            case Found():
                return self._on_found(message)
            case Failure():
                return self._on_failure(message)
            case Closed() | Pong():
                return Ignored()

    def _limit(self) -> int:
        # Attention comes with the last of the steps under way.
        last = self._steps.last if self._steps else None
        if last is not None and last.step.attention is not None:
            return self.attention_room(last.step.attention, last.end)
        return frame_limit(self._hidden_size, self._opened.max_rows if self._opened else 1)

    def _on_opened(self, message: Opened) -> Event:
        if self._opened is not None or self._outstanding is None:
            return Ignored()
        if message.manifest != self._manifest:
            raise ModelChanged
        if message.max_rows < 1 or message.max_context < 1:
            raise MalformedMessage("the limits of a session must be at least 1")
        if self._dtype is not None and message.dtype != self._dtype:
            raise OtherDtype(self._dtype, message.dtype)
        self._opened, self._outstanding = message, None
        self._believe(message.cached, message.prefix)
        return SessionOpened(message)

    def _on_restored(self, message: Restored) -> Event:
        if self._opened is None or self._asked is None or self._outstanding is None:
            return Ignored()
        chain, start = self._asked
        asked = (self._opened.session, start, len(chain))
        if (message.session, message.start, message.known) != asked:
            return Ignored()
        self._outstanding = None
        self._believe(message.cached, message.prefix)
        return SessionRestored(self.cached)

    def _believe(self, cached: int, prefix: bytes) -> None:
        """Take as held what was asked for, as far as its name proves it."""
        asked, self._asked = self._asked, None
        if asked is None:
            return
        chain, start = asked
        held = start <= cached <= len(chain) and prefix == chain.at(cached)
        chain.truncate(cached if held else start)
        self._chain, self._hidden = chain, cut(self._hidden, start)

    def _on_result(self, message: Result) -> Event:
        answered = self._steps.answered(message)
        if not answered or self._opened is None:
            return Ignored()
        step = answered[-1].step
        hidden = checked_hidden(self._hidden_size, message, step)
        attention = checked_attention(message, step, self._opened)
        wanted = answered[-1].attention
        if attention is not None and wanted is not None and wanted != step.attention:
            attention = narrowed(attention, wanted)
        for sent in answered:
            self._chain.replace(sent.step.start, sent.digests)
            self._hidden = cut(self._hidden, sent.step.start)
        self._next_step += len(answered)
        self._steps.done(len(answered))
        return StepCompleted(
            hidden,
            message.cached,
            message.compute_us,
            message.queue_us,
            attention,
            min(message.reused, step.embeddings.rows),
            len(answered) - 1,
            message.tiers,
        )

    def _on_failure(self, message: Failure) -> Event:
        if self._outstanding is not None:
            # An open, a restore, or a hide or show: its refusal names neither session nor step.
            if (message.session, message.step) != (None, None):
                return Ignored()
            self._outstanding, self._asked, self._wanted = None, None, None
            self._asked_for = None
            return StepFailed(message)
        if not self._steps.is_about(message):
            return Ignored()
        failure = self._steps.refused(message)
        if failure is None:
            return StepReplaced()
        self._steps.clear()
        return StepFailed(failure)
