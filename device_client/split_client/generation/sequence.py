"""The tokens of one session, as the backend has cached them.

Extending is the only way to move: prefill, the next token, a later turn, an edit, a retry and a
lost cache are all "make the cache hold exactly these tokens".
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from split_client.errors import PromptEmpty, PromptTooLong, ServerRefused, SessionUnstable
from split_client.generation.backend import Backend, CacheLost
from split_client.generation.documents.documents import Documents
from split_client.generation.editing.difference import may_have_runs
from split_client.generation.editing.edits import Edits
from split_client.generation.editing.moving import Moved
from split_client.generation.extended import Extended, SequenceCounters, joined
from split_client.generation.held import Held
from split_client.generation.prefix import common_prefix
from split_client.generation.spared import Pace, Spared, row_bytes
from split_client.generation.steps import (
    Embed,
    Known,
    OneByOne,
    Pipelined,
    RowsOf,
    parts,
    run,
)
from split_client.generation.trail import Trail
from split_client.generation.veil import Hides, Veil
from split_wire.attention import AttentionRequest
from split_wire.errors import Unsupported
from split_wire.hiding.spans import CAPABILITY, Spans, cut
from split_wire.tiers import Inexact

MAX_RESENDS = 3
# So many rows cost more than to ask whether they are held.
_WORTH_ASKING = 32

Rows = Callable[[list[int], int, int], NDArray[np.float32]]
Correct = Callable[[NDArray[np.float32]], NDArray[np.float32]]


class Sequence:
    """``embed`` maps n token ids to float32 rows [n, H].

    ``rows``: in its place, where a row depends on more than its token: maps tokens, start and stop
    to those rows [stop - start, H]. Of such rows nothing is told before they are sent.

    ``adapter``: the name of one that the backend applies, sent with every step from now on.
    ``correct``: maps the hidden state [H] of the last token to the one that :meth:`extend` returns,
    for an adapter that the backend does not see. Both may change at any time: they come after the
    layers, so what is cached does not depend on them. ``trail``: where caches ended that were given
    up; ``edits``: keeps what lies behind an edit, where the backend does, and ``documents`` takes
    what it knows of other texts; ``clock`` in seconds.
    """

    def __init__(
        self,
        backend: Backend,
        embed: Embed,
        rows: Rows | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._backend = backend
        self._clock, self._pace = clock, Pace()
        self._embed = embed if rows is None else None
        self._rows: Rows = rows or (lambda tokens, start, stop: embed(tokens[start:stop]))
        self._flow = backend if isinstance(backend, Pipelined) else OneByOne(backend)
        self.adapter: str | None = None
        self.correct: Correct | None = None
        self.counters = SequenceCounters()
        self.trail = Trail()
        self._held = Held(self.trail)
        self._hides = backend if isinstance(backend, Hides) else None
        self._veil = Veil()
        plain = None if self._embed is None else self._rows
        self.edits = Edits(backend, self._held, plain, clock)
        self.documents = Documents(backend, self._held, plain, clock)

    @property
    def cached(self) -> int:
        """Positions that the backend is believed to hold."""
        return len(self._held.tokens)

    @property
    def dtype(self) -> str | None:
        """What the rows of the open session travel in; None before there is one."""
        return self._backend.dtype if self.counters.steps else None

    def shared(self, tokens: list[int]) -> int:
        """How many of the first of ``tokens`` the backend is believed to hold."""
        return common_prefix(self._held.tokens, tokens)

    def movable(self, tokens: list[int]) -> int:
        """How many positions behind an edit :meth:`extend` would keep at other places for
        ``tokens``, as far as is known now.
        """
        return 0 if self._veil.spans else self.edits.reusable(tokens)

    def may_move(self, tokens: list[int]) -> bool:
        """False where :meth:`movable` is 0, in a tenth of its time where it is."""
        return not self._veil.spans and may_have_runs(self._held.tokens, tokens)

    @property
    def max_context(self) -> int:
        """Positions that the session may hold; opens the session."""
        self._open()
        return self._backend.max_context

    @property
    def interactive_rows(self) -> int:
        """Rows with which a step still is interactive; opens the session."""
        self._open()
        return self._backend.interactive_rows

    def extend(self, tokens: list[int], attention: AttentionRequest | None = None) -> Extended:
        """Make the cache hold ``tokens`` and return the hidden state after the last one.

        Sends only what differs from the cache. ``attention``: which of the last token's attention
        to return as well. Raises PromptEmpty, PromptTooLong, the backend's errors and those of
        ``correct``; after the latter the cache holds ``tokens`` all the same.
        """
        extended = self.cache(tokens, attention)
        if self.correct is None:
            return extended
        return replace(extended, hidden=self.correct(extended.hidden))

    def cache(
        self, tokens: list[int], attention: AttentionRequest | None = None, rows: int = 1
    ) -> Extended:
        """:meth:`extend` without ``correct``, with the states after each of the last ``rows``
        tokens, of which all but the first are a draft: where a later call takes some of them back,
        nothing remembers that they were there. Raises ValueError for more rows than tokens.
        """
        if not tokens:
            raise PromptEmpty
        if not 1 <= rows <= len(tokens):
            raise ValueError(f"{rows} rows of {len(tokens)} tokens")
        stood = None
        for _ in range(1 + MAX_RESENDS):
            known = self._known(tokens, stood)
            self._open(known)
            if len(tokens) > self._backend.max_context:
                raise PromptTooLong(len(tokens), self._backend.max_context)
            stands = self._stands(tokens)
            try:
                # What is hidden keeps its place.
                moved = Moved() if self._veil.spans else self.edits.make(tokens)
                began = self._clock()
                restored = self._restore(known)
                took = self._clock() - began
                stands = self.cached if restored else stands
                moved += Moved() if self._veil.spans else self.documents.make(tokens, self._plainly)
                self._count(moved)
                self._draw_veil(tokens, rows)
                sent = self._send_rest(tokens, attention, rows)
            except CacheLost:
                self.counters.resends += 1
                stood = stood or stands
                self.leave()
            else:
                return self._told(sent, len(tokens), restored, took, moved)
        raise SessionUnstable

    def _plainly(self, tokens: list[int]) -> Extended:
        """Have the cache hold ``tokens``, computed as any are."""
        return self._send_rest(tokens, None, 1)

    def _count(self, moved: Moved) -> None:
        self.counters.rows_moved += moved.positions
        self.counters.rows_sent += moved.rows
        self.counters.edits_refused += moved.refused

    def hidden_of(self, tokens: list[int]) -> Spans:
        """Which of ``tokens`` later ones do not see, where those are what is extended."""
        return self._veil.of(tokens)

    @property
    def hides(self) -> bool:
        """Whether the backend's session can hide rows; False before one is open."""
        return self._hides is not None and self._hides.hides

    def hide(self, tokens: list[int], spans: Spans, message: Spans = ()) -> None:
        """Have the rows of ``spans`` of ``tokens``, and no others, hidden from all that follow, as
        long as what is extended begins like ``tokens``; also in sessions that take the place of
        this one. ``message``: where the user's last message lies, one span or none.

        Raises ServerRefused (``unsupported``, ``spans_refused``) and the errors of a step; what was
        hidden stays hidden then.
        """
        end = spans[-1][1] if spans else 0
        before, self._veil = self._veil, Veil(tuple(tokens[:end]), spans, message)
        try:
            self._open()
            hides = self._hiding()
            if self.shared(tokens) >= end:
                hides.see_all_but(spans, message)
        except CacheLost:
            self.leave()
        except BaseException:
            self._veil = before
            raise

    def show(self) -> None:
        """Hide nothing any more. Raises as :meth:`hide`."""
        if self._veil.spans:
            self.hide([], ())

    def _hiding(self) -> Hides:
        if self._hides is None:
            raise ServerRefused(Unsupported.code, str(Unsupported(CAPABILITY)))
        return self._hides

    def _draw_veil(self, tokens: list[int], rows: int) -> None:
        """Have the session hide what is to be hidden of ``tokens``, the last ``rows`` of which are
        about to be sent; what comes before is sent first where it is missing.
        """
        most = len(tokens) - rows
        wanted, held = cut(self._veil.of(tokens), most), min(self.shared(tokens), most)
        if self._hides is None or self._hides.sees_all_but(wanted, held):
            return
        if wanted and wanted[-1][1] > held:
            self._send_rest(tokens[: wanted[-1][1]], None, 1)
        self._hides.see_all_but(wanted, self._veil.message)

    def close(self) -> None:
        """End the session."""
        self.leave()
        self._backend.close()

    def leave(self) -> list[int]:
        """Believe in no cache any more, and return the tokens of the one that was believed in."""
        return self._held.leave()

    def _told(
        self, sent: Extended, count: int, restored: int, took: float, moved: Moved
    ) -> Extended:
        """``sent`` with what was spared of ``count`` tokens by restoring some in ``took`` s, and by
        moving others.
        """
        self._pace.sent(sent.rows, sent.restored, sent.exchange)
        sent = _with_moved(sent, moved)
        held = count - sent.rows + sent.restored
        inexact = sent.tiers.within(count, held)
        if moved.positions:
            inexact = Inexact(inexact.int8, moved.positions)
        spared = Spared(
            count - sent.rows - restored,
            restored,
            sent.restored,
            restored * row_bytes(len(sent.hidden), self._backend.dtype) if restored else 0,
            self._pace.saved(restored, took) if restored else 0.0,
            inexact,
            moved.positions,
            moved.rows,
            moved.refused,
            moved.documents,
        )
        # The wait for what is restored is one for the server.
        exchange = sent.exchange + (took if restored else 0.0)
        return replace(sent, restored=sent.restored + restored, exchange=exchange, spared=spared)

    def _known(self, tokens: list[int], stood: int | None = None) -> Known | None:
        """What the backend is asked for before it is sent; None where that is not worth asking.

        ``stood``: where a lost cache ended. Its last, partial block is found by that end alone.
        """
        shared = self.shared(tokens)
        if self._embed is None or len(tokens) - shared <= _WORTH_ASKING:
            return None
        # What was moved has other names, and so has all that goes on from it.
        if self._held.moved is not None and shared > self._held.moved:
            return None
        return Known(tokens, self._embed, stood or len(tokens) - 1)

    def _stands(self, tokens: list[int]) -> int | None:
        """Positions of the cache, if ``tokens`` go on from all of them."""
        goes_on = self.cached < len(tokens) and self.shared(tokens) == self.cached
        return self.cached if goes_on else None

    def _restore(self, known: Known | None) -> int:
        """Have the backend take in what it kept of ``known``; how many rows that were."""
        # A step that was broken off may have gone through after all.
        if known is None or self._known(known.tokens) is None:
            return 0
        start = min(self.shared(known.tokens), len(known))
        self._held.cut_back(start)
        # What lies behind makes way for what is found, also where no answer comes.
        self._held.keep(known.tokens[:start])
        held = self._backend.held(known, start)
        if held <= start:
            return 0
        self._held.keep(known.tokens[:held])
        self.counters.rows_restored += held - start
        return held - start

    def _open(self, known: Known | None = None) -> None:
        """Open the session; what steps that were broken off left behind is known then."""
        self._held.resumed(self._backend.open(known))

    def _send_rest(
        self, tokens: list[int], attention: AttentionRequest | None, wanted: int
    ) -> Extended:
        # The last tokens are always sent, because the backend returns states only for rows it is
        # given.
        start = min(self.shared(tokens), len(tokens) - wanted)
        self._held.cut_back(start)
        self.counters.rows_reused += start
        wanted_parts = parts(start, len(tokens), self._backend.max_rows, wanted, attention)
        # A noised row leaves once what was released before it is settled.
        ahead = self._embed is not None and all(part.rows == 1 for part in wanted_parts[:-1])
        rows: RowsOf = lambda first, stop: self._rows(tokens, first, stop)  # noqa: E731
        outputs = []
        for part, output in run(
            self._flow, self._held, tokens, wanted_parts, rows, self.adapter, ahead
        ):
            outputs.append(output)
            self.counters.steps += 1
            self.counters.rows_sent += part.end - part.start
        return joined(outputs, len(tokens) - start, wanted)


def _with_moved(sent: Extended, moved: Moved) -> Extended:
    """``sent`` with what moving rows before cost."""
    return replace(
        sent,
        rows=sent.rows + moved.rows + moved.plain,
        exchange=sent.exchange + moved.exchange,
        compute=sent.compute + moved.compute,
        queue=sent.queue + moved.queue,
    )
