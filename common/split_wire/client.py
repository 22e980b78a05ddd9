"""The device's side of one session as a state machine without I/O.

Feed it what the transport received, send what it returns. One message is outstanding at a time, but
for the steps of one prefill, of which several may be under way over a transport that keeps their
order. After a lost connection send :attr:`ClientProtocol.unanswered` again, in that order: the
server appends a step once, however often it arrives. An ``open`` that is sent again may open a
second session, which the server drops when it has been idle for long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from split_wire.attention import CAPABILITY, AttentionRequest, AttentionWeights, attention_bytes
from split_wire.attention_check import checked_weights
from split_wire.codec import decode_server_message, encode_message
from split_wire.digest import PrefixChain, linked
from split_wire.errors import (
    ContextOverflow,
    MalformedMessage,
    ModelChanged,
    TooManyRows,
    Unsupported,
    WrongHiddenSize,
    WrongShape,
)
from split_wire.limits import frame_limit
from split_wire.messages import (
    Cache,
    Close,
    Closed,
    Failure,
    Open,
    Opened,
    Pong,
    Restore,
    Restored,
    Result,
    Step,
)
from split_wire.probe import CAPABILITY as RESTORE
from split_wire.probe import Probe
from split_wire.returned import CAPABILITY as ROWS
from split_wire.returned import Rows, counted
from split_wire.tensor import Tensor, WireDtype
from split_wire.under_way import MOST_STEPS, SentStep, StepsUnderWay

# Between two places at which a session is asked for what goes on from all that it holds.
_BLOCKS_BEHIND = 4


class ProtocolStateError(RuntimeError):
    """The caller asked for something its session's state does not allow."""


class OtherDtype(MalformedMessage):
    """A session was opened in ``given`` where ``asked`` was asked for."""

    def __init__(self, asked: str, given: str) -> None:
        self.asked, self.given = asked, given
        super().__init__(f"'dtype' is {given} where {asked} was asked for")


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """The session can take steps."""

    opened: Opened


@dataclass(frozen=True, slots=True)
class StepCompleted:
    """``hidden`` float32 [rows asked for, H], read-only; the server holds ``cached`` positions.

    Times in microseconds. ``attention``: that of the step's last row, where it was asked for;
    ``reused``: rows that the server says it knew already; ``unseen``: earlier steps that this
    answer proves to have gone through, whose own answers are gone.
    """

    hidden: NDArray[np.float32]
    cached: int
    compute_us: int
    queue_us: int
    attention: AttentionWeights | None = None
    reused: int = 0
    unseen: int = 0


@dataclass(frozen=True, slots=True)
class StepReplaced:
    """The server answered a later step already; whether so is seen when its answer comes again."""


@dataclass(frozen=True, slots=True)
class SessionRestored:
    """The server holds the first ``cached`` positions of what it was asked for."""

    cached: int


@dataclass(frozen=True, slots=True)
class StepFailed:
    """The server refused the outstanding open, restore or step; nothing is outstanding any more,
    also not the steps behind it.

    The device's ``cached`` is unchanged; the server may hold less, and then answers the next step
    with ``start_beyond_cache`` or ``prefix_mismatch``.
    """

    failure: Failure


@dataclass(frozen=True, slots=True)
class Ignored:
    """A message of no consequence: an answer that was already taken, a pong, a closed session."""


Event: TypeAlias = (
    SessionOpened | SessionRestored | StepCompleted | StepReplaced | StepFailed | Ignored
)


class ClientProtocol:
    """One session at a time, any number in a row.

    ``manifest`` is the digest of the manifest whose ends the device holds; ``dtype`` is asked of
    the server, None = the server's own; ``cache_salt``, ``cache``, ``cache_group`` and
    ``share_until`` go with every ``open``.
    """

    def __init__(
        self,
        hidden_size: int,
        manifest: str,
        dtype: WireDtype | None = None,
        cache_salt: str | None = None,
        cache: Cache = "exact",
        cache_group: str | None = None,
        share_until: int = 0,
    ) -> None:
        self._hidden_size = hidden_size
        self._manifest = manifest
        self._dtype = dtype
        self._salt, self._cache = cache_salt, cache
        self._group, self._share_until = cache_group, share_until
        self._opened: Opened | None = None
        self._next_step = 1
        self._steps = StepsUnderWay()
        self._outstanding: bytes | None = None
        # What was asked for, and the positions that are held whatever is answered.
        self._asked: tuple[PrefixChain, int] | None = None
        self._chain = PrefixChain(manifest)

    @property
    def opened(self) -> Opened | None:
        """The agreement with the server, None before and after a session."""
        return self._opened

    @property
    def cached(self) -> int:
        """Positions that the server holds as far as the device knows."""
        return len(self._chain)

    @property
    def outstanding(self) -> bytes | None:
        """The frame that awaits its answer, the first of them where there are several."""
        return next(iter(self.unanswered), None)

    @property
    def unanswered(self) -> list[bytes]:
        """The frames that await their answers, to send again after a lost connection."""
        return self._steps.frames if self._outstanding is None else [self._outstanding]

    @property
    def stepping(self) -> bool:
        """Whether what is outstanding are steps."""
        return len(self._steps) > 0

    @property
    def reach(self) -> int:
        """Positions that the server holds once all steps under way went through."""
        return self._steps.last.end if self._steps else self.cached

    def ask_for(self, dtype: WireDtype) -> None:
        """Open further sessions in ``dtype`` and accept no other."""
        self._dtype = dtype

    @property
    def restores(self) -> bool:
        """Whether the server of the open session can be asked for what it holds."""
        return self._opened is not None and RESTORE in self._opened.capabilities

    def new_chain(self) -> PrefixChain:
        """An empty chain of this model's rows."""
        return PrefixChain(self._manifest)

    def open(self, chain: PrefixChain | None = None) -> bytes:
        """Ask for a session; a previous one is forgotten.

        ``chain``: of rows in the dtype that is asked for, of which the session may begin with as
        many as the server holds.
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

    def forget(self) -> None:
        """The session is lost: nothing is cached and nothing is outstanding."""
        self._opened, self._outstanding, self._asked = None, None, None
        self._steps.clear()
        self._next_step = 1
        self._chain = PrefixChain(self._manifest)

    def give_up(self) -> None:
        """A restore stays without an answer: no more than its ``start`` positions are held for
        certain. Nothing happens where none is outstanding.
        """
        if self._asked is None or self._opened is None:
            return
        chain, start = self._asked
        chain.truncate(start)
        self._chain, self._asked, self._outstanding = chain, None, None

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
        WrongShape, WrongHiddenSize, TooManyRows, ContextOverflow, NonFinite, Unsupported and
        AttentionTooLarge.
        """
        if self._opened is None or self._outstanding is not None:
            raise ProtocolStateError("a step needs an open session without an outstanding message")
        self._check_start(start)
        self._check_rows(self._opened, start, embeddings)
        self._check_returned(rows, len(embeddings))
        if attention is not None:
            self.attention_room(attention, start + embeddings.shape[0])
        tensor = Tensor.from_f32(embeddings, self._opened.dtype)
        prefix = self._steps.last.digests[-1] if self._steps else self._chain.at(start)
        number = self._next_step + len(self._steps)
        session = self._opened.session
        message = Step(session, number, start, prefix, tensor, rows, adapter, attention)
        frame = encode_message(message)
        self._steps.add(SentStep(message, linked(prefix, tensor), frame))
        return frame

    def _check_start(self, start: int) -> None:
        under_way = len(self._steps)
        if under_way and (start != self.reach or under_way == MOST_STEPS):
            raise ProtocolStateError(f"{under_way} steps are under way, up to {self.reach}")
        if not 0 <= start <= self.reach:
            raise ProtocolStateError(f"start {start} is beyond the {self.cached} cached positions")

    def answer_room(self, rows: int) -> int:
        """Bytes of the longest answer that brings the states of ``rows``."""
        return frame_limit(self._hidden_size, rows)

    @property
    def counts_rows(self) -> bool:
        """Whether a step of the open session may ask for the last so many states."""
        return self._opened is not None and ROWS in self._opened.capabilities

    def _check_returned(self, rows: Rows, sent: int) -> None:
        if rows in ("last", "all"):
            return
        if not counted(rows, sent):
            raise ProtocolStateError(f"of {sent} rows {rows!r} cannot be asked for")
        if not self.counts_rows:
            raise Unsupported(ROWS)

    def attention_room(self, request: AttentionRequest, positions: int) -> int:
        """Bytes of the longest answer that brings the attention over ``positions`` cached ones.

        Raises ProtocolStateError, Unsupported, AttentionTooLarge.
        """
        opened = self._opened
        if opened is None:
            raise ProtocolStateError("attention needs an open session")
        if CAPABILITY not in opened.capabilities or not opened.layers or not opened.heads:
            raise Unsupported("attention")
        size = attention_bytes(request, opened.layers, opened.heads, positions)
        return frame_limit(self._hidden_size, opened.max_rows) + size

    def _check_rows(self, opened: Opened, start: int, rows: NDArray[np.float32]) -> None:
        if rows.ndim != 2 or rows.shape[0] < 1:
            raise WrongShape(rows.shape, f"[at least one row, {self._hidden_size}]")
        if rows.shape[1] != self._hidden_size:
            raise WrongHiddenSize(rows.shape[1], self._hidden_size)
        if rows.shape[0] > opened.max_rows:
            raise TooManyRows(rows.shape[0], opened.max_rows)
        if start + rows.shape[0] > opened.max_context:
            raise ContextOverflow(start + rows.shape[0], opened.max_context)

    def close(self, keep: bool = True) -> bytes | None:
        """The frame that ends the session, None when there is none; the session is forgotten.

        ``keep``: false has the server keep nothing of it.
        """
        opened = self._opened
        self.forget()
        return None if opened is None else encode_message(Close(opened.session, keep))

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
        self._chain = chain

    def _on_result(self, message: Result) -> Event:
        answered = self._steps.answered(message)
        if not answered or self._opened is None:
            return Ignored()
        step = answered[-1].step
        hidden = self._checked(message, step)
        attention = self._checked_attention(message, step, self._opened)
        for sent in answered:
            self._chain.replace(sent.step.start, sent.digests)
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
        )

    def _checked(self, message: Result, step: Step) -> NDArray[np.float32]:
        wanted = step.returned
        if message.hidden.width != self._hidden_size:
            raise WrongHiddenSize(message.hidden.width, self._hidden_size)
        if message.hidden.rows != wanted:
            raise WrongShape(message.hidden.shape, f"[{wanted}, {self._hidden_size}]")
        if message.cached != step.start + step.embeddings.rows:
            raise MalformedMessage("'cached' is not the number of positions sent")
        message.hidden.require_finite()
        hidden = message.hidden.to_f32()
        hidden.flags.writeable = False
        return hidden

    def _checked_attention(
        self, message: Result, step: Step, opened: Opened
    ) -> AttentionWeights | None:
        if step.attention is None:
            return None
        return checked_weights(
            message.attention, step.attention, opened.layers, opened.heads, message.cached
        )

    def _on_failure(self, message: Failure) -> Event:
        if self._outstanding is not None:
            # An open or a restore: its refusal names neither session nor step.
            if (message.session, message.step) != (None, None):
                return Ignored()
            self._outstanding, self._asked = None, None
            return StepFailed(message)
        if not self._steps.is_about(message):
            return Ignored()
        failure = self._steps.refused(message)
        if failure is None:
            return StepReplaced()
        self._steps.clear()
        return StepFailed(failure)
