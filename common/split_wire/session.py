"""The server's side of one session as a state machine without I/O or arithmetic.

It decides what a step message means for a session: run it, answer it from memory, wait for the run
that is under way, or refuse it. The caller runs the model and reports back with
:meth:`SessionState.complete` or :meth:`SessionState.fail`. Nothing changes before a message has
passed every check.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from hmac import compare_digest
from typing import TypeAlias

from split_wire.digest import PrefixChain
from split_wire.documents.chunks import Begun, Named, named
from split_wire.errors import (
    ContextOverflow,
    PrefixMismatch,
    StartBeyondCache,
    StepConflict,
    TooManyRows,
    WrongHiddenSize,
    WrongShape,
)
from split_wire.messages import Restore, Splice, Step
from split_wire.splice import pieces, spliced
from split_wire.tensor import Tensor


@dataclass(frozen=True, slots=True)
class Run:
    """Truncate the cache to ``step.start``, append its rows, then report back with this object.

    ``chunks``: those of the text that end in its rows; ``begun``: the one that they end within.
    """

    step: Step
    fingerprint: bytes
    digests: list[bytes]
    chunks: tuple[Named, ...] = ()
    begun: Begun | None = None

    @property
    def prefix(self) -> bytes:
        """The chained digest of the cache once the step is appended, for the result."""
        return self.digests[-1]


@dataclass(frozen=True, slots=True)
class Replay:
    """The step was answered before: send ``reply`` again."""

    reply: bytes


@dataclass(frozen=True, slots=True)
class Underway:
    """The very same message is running: wait for that run's answer."""


Admission: TypeAlias = Run | Replay | Underway


def fingerprint(frame: bytes) -> bytes:
    """Identity of a step message: equal bytes, equal fingerprint."""
    return blake2b(frame, digest_size=16, person=b"split.v1 step").digest()


class SessionState:
    """Cached rows, step numbers and the last reply of one session.

    ``chain`` names what the cache holds and is kept up to date here; ``max_rows`` bounds one step,
    ``max_context`` the cache, both in positions.
    """

    def __init__(
        self, chain: PrefixChain, hidden_size: int, max_rows: int, max_context: int
    ) -> None:
        self._chain = chain
        self._hidden_size = hidden_size
        self._max_rows = max_rows
        self._max_context = max_context
        self._last_step = 0
        self._last_fingerprint = b""
        self._last_reply: bytes | None = None
        self._running: Run | None = None
        self._begun: Begun | None = None

    @property
    def cached(self) -> int:
        """Cached positions."""
        return len(self._chain)

    @property
    def busy(self) -> bool:
        """Whether a step is running."""
        return self._running is not None

    @property
    def running(self) -> Run | None:
        """The step that is running."""
        return self._running

    @property
    def reply_bytes(self) -> int:
        """Bytes held for a replay."""
        return len(self._last_reply or b"")

    def admit(self, step: Step, mark: bytes) -> Admission:
        """Decide about ``step``, whose frame has the fingerprint ``mark``.

        After a Run the session is busy until ``complete`` or ``fail``. Raises StepConflict,
        WrongHiddenSize, WrongShape, TooManyRows, ContextOverflow, NonFinite, MalformedMessage,
        StartBeyondCache, PrefixMismatch; none of them changes anything.
        """
        repeated = self._repeated(step, mark)
        if repeated is not None:
            return repeated
        self._check_rows(step)
        if step.start > self.cached:
            raise StartBeyondCache(step.start, self.cached)
        if not compare_digest(step.prefix, self._chain.at(step.start)):
            raise PrefixMismatch(step.start)
        if isinstance(step, Splice):
            digests = self._spliced(step)
        else:
            digests = self._chain.following(step.start, step.embeddings)
        chunks, begun = named(self._begun, _pieces(step), step.chunks)
        self._running = Run(step, mark, digests, tuple(chunks), begun)
        return self._running

    def _spliced(self, step: Splice) -> list[bytes]:
        """The chain after each position behind ``start``. Raises StartBeyondCache."""
        last = 0 if step.sources else step.spans[-1].old + step.spans[-1].rows
        if last > self.cached:
            raise StartBeyondCache(last, self.cached)
        rows, blend = step.embeddings, step.blend
        return spliced(self._chain, step.start, step.spans, rows, blend, step.sources)

    def _repeated(self, step: Step, mark: bytes) -> Admission | None:
        running = self._running  # read once: a large frame is admitted on another thread
        if running is not None:
            if step.step == running.step.step and mark == running.fingerprint:
                return Underway()
            raise StepConflict(step.step, running.step.step)
        if step.step == self._last_step and self._last_reply is not None:
            if mark == self._last_fingerprint:
                return Replay(self._last_reply)
            raise StepConflict(step.step, self._last_step + 1)
        if step.step != self._last_step + 1:
            raise StepConflict(step.step, self._last_step + 1)
        return None

    def _check_rows(self, step: Step) -> None:
        rows = step.embeddings
        if rows.width != self._hidden_size:
            raise WrongHiddenSize(rows.width, self._hidden_size)
        if rows.rows < 1:
            raise WrongShape(rows.shape, "at least one row")
        if rows.rows > self._max_rows:
            raise TooManyRows(rows.rows, self._max_rows)
        if step.end > self._max_context:
            raise ContextOverflow(step.end, self._max_context)
        rows.require_finite()

    def require_held(self, start: int, prefix: bytes) -> None:
        """Raise StepConflict while a step runs, StartBeyondCache or PrefixMismatch where the first
        ``start`` positions are not those that ``prefix`` names.
        """
        running = self._running
        if running is not None:
            raise StepConflict(self._last_step + 1, running.step.step)
        if start > self.cached:
            raise StartBeyondCache(start, self.cached)
        if not compare_digest(prefix, self._chain.at(start)):
            raise PrefixMismatch(start)

    def found(self, restore: Restore) -> int:
        """The longest prefix of ``restore`` that the session holds itself, at least its ``start``.

        Raises StepConflict while a step runs, StartBeyondCache, PrefixMismatch; changes nothing.
        """
        start = restore.start
        self.require_held(start, restore.prefix)
        return next(
            (
                position
                for position, digest in restore.probe.longest_first()
                if start < position <= self.cached
                and compare_digest(digest, self._chain.at(position))
            ),
            start,
        )

    def replaced(self) -> None:
        """The cache and the chain that names it were replaced; an answer that was given before is
        about rows that may be gone.
        """
        self._last_reply, self._begun = None, None

    def complete(self, run: Run, reply: bytes) -> None:
        """``run`` was appended; ``reply`` answers it and its repetitions."""
        self._require_running(run)
        self._chain.replace(run.step.start, run.digests)
        self._last_step, self._last_fingerprint = run.step.step, run.fingerprint
        self._last_reply, self._running, self._begun = reply, None, run.begun

    def fail(self, run: Run, cached: int) -> None:
        """``run`` was not appended and the cache holds ``cached`` positions, at most as before.

        Its number is used again by whatever the device sends next.
        """
        self._require_running(run)
        self._chain.truncate(cached)
        self._last_reply, self._running, self._begun = None, None, None

    def _require_running(self, run: Run) -> None:
        # A report about another run would let the digests and the real cache drift apart.
        if run is not self._running:
            raise RuntimeError("this run is not under way")


def _pieces(step: Step) -> list[tuple[int, Tensor]]:
    """The rows that ``step`` has computed, by the position of the first of each run."""
    if isinstance(step, Splice):
        return pieces(step.start, step.spans, step.embeddings, step.blend)
    return [(step.start, step.embeddings)]
