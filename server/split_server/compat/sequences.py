"""Token sequences that outlive their request, so that the next one sends only what is new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from split_client.generation.editing.moving import last_rows
from split_client.generation.extended import Extended
from split_client.generation.sequence import Sequence
from split_client.generation.steps import Embed
from split_server.compat.backend import EngineBackend
from split_server.compat.keeping import USUAL, Keeping
from split_wire.attention import AttentionRequest

# Of a kept sequence this share must be common, unless all of the prompt is. Else a new one is begun
# and the kept one stays as it is for the chat that it belongs to.
_WORTH = 0.5
# Sequences in which what lies behind an edit is looked for: milliseconds each, on the event loop.
_LOOKED_INTO = 2


class LocalSequence(Sequence):
    """A sequence on a session of this process.

    ``apart``: the last of the tokens that are cached next has a step of its own. A prompt that is
    cached already needs that step alone, and rows of single steps are summed in another order than
    those of a prefill: this way the state after a prompt has the same bits either way.
    """

    def __init__(self, backend: EngineBackend, embed: Embed) -> None:
        super().__init__(backend, embed)
        self.backend = backend
        self.apart = False

    def cache(
        self, tokens: list[int], attention: AttentionRequest | None = None, rows: int = 1
    ) -> Extended:
        """As :meth:`Sequence.cache`."""
        apart, self.apart = self.apart, False
        if not apart or rows > 1 or len(tokens) - self.shared(tokens) < 2:
            return super().cache(tokens, attention, rows)
        before = super().cache(tokens[:-1])
        return _joined(before, super().cache(tokens, attention))


@dataclass(frozen=True, slots=True)
class _Kept:
    principal: str
    keeping: Keeping
    sequence: LocalSequence


class SequencePool:
    """``new``: begins a sequence of a principal, whose keys and values are kept in some way;
    ``most``: sequences that are kept while idle.

    Lives on the event loop alone.
    """

    def __init__(self, new: Callable[[str, Keeping], LocalSequence], most: int) -> None:
        self._new = new
        self._most = most
        # Least recently used first.
        self._idle: list[_Kept] = []

    def __len__(self) -> int:
        return len(self._idle)

    def take(self, principal: str, tokens: list[int], keeping: Keeping = USUAL) -> LocalSequence:
        """The principal's idle sequence that is kept in the same way and has most in common with
        ``tokens``, or a new one.
        """
        best, most = None, 0
        for kept in self._idle if keeping.cache != "off" else ():
            own = (kept.principal, kept.keeping) == (principal, keeping)
            shared = kept.sequence.shared(tokens) if own else 0
            worth = shared >= _WORTH * kept.sequence.cached or shared == len(tokens)
            if shared > most and worth:
                best, most = kept, shared
        best = best or self._edited(principal, tokens, keeping)
        if best is None:
            return self._new(principal, keeping)
        self._idle.remove(best)
        return best.sequence

    def _edited(self, principal: str, tokens: list[int], keeping: Keeping) -> _Kept | None:
        """Of the sequences of ``principal`` that were used last, one of which most stays what it is
        behind an edit; where rows may be moved.
        """
        if keeping.cache != "approximate":
            return None
        whose = (principal, keeping)
        own = [kept for kept in self._idle if (kept.principal, kept.keeping) == whose]
        for kept in reversed(own[-_LOOKED_INTO:]):
            sequence = kept.sequence
            if not sequence.may_move(tokens):
                continue
            stays = sequence.shared(tokens) + sequence.movable(tokens)
            if stays >= _WORTH * sequence.cached:
                return kept
        return None

    def give_back(self, principal: str, sequence: LocalSequence, keeping: Keeping = USUAL) -> None:
        """Keep ``sequence`` for a later request; the longest unused one may go for it."""
        if not sequence.cached or keeping.cache == "off":
            sequence.close()
            return
        sequence.backend.rest()
        sequence.edits.question = sequence.documents.question = last_rows
        sequence.documents.texts = ()
        self._idle.append(_Kept(principal, keeping, sequence))
        while len(self._idle) > self._most:
            self._idle.pop(0).sequence.close()

    def close(self) -> None:
        """End all idle sequences."""
        while self._idle:
            self._idle.pop().sequence.close()


def _joined(before: Extended, last: Extended) -> Extended:
    """What two calls gave, of which the second has sent one row more."""
    return replace(
        last,
        rows=before.rows + last.rows,
        exchange=before.exchange + last.exchange,
        compute=before.compute + last.compute,
        queue=before.queue + last.queue,
        restored=before.restored + last.restored,
        spared=before.spared,
    )
