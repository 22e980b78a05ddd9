"""Token sequences that outlive their request, so that the next one sends only what is new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from split_client.generation.sequence import Embed, Sequence
from split_server.compat.backend import EngineBackend

# Of a kept sequence this share must be common, unless all of the prompt is. Else a new one is begun
# and the kept one stays as it is for the chat that it belongs to.
_WORTH = 0.5


class LocalSequence(Sequence):
    """A sequence on a session of this process."""

    def __init__(self, backend: EngineBackend, embed: Embed) -> None:
        super().__init__(backend, embed)
        self.backend = backend


@dataclass(frozen=True, slots=True)
class _Kept:
    principal: str
    salt: str | None
    to_disk: bool
    sequence: LocalSequence


class SequencePool:
    """``new``: begins a sequence of a principal and a salt, which may be kept on disk or not;
    ``most``: sequences that are kept while idle.

    Lives on the event loop alone.
    """

    def __init__(self, new: Callable[[str, str | None, bool], LocalSequence], most: int) -> None:
        self._new = new
        self._most = most
        # Least recently used first.
        self._idle: list[_Kept] = []

    def __len__(self) -> int:
        return len(self._idle)

    def take(
        self, principal: str, tokens: list[int], salt: str | None = None, to_disk: bool = True
    ) -> LocalSequence:
        """The principal's idle sequence of that ``salt`` and ``to_disk`` that has most in common
        with ``tokens``, or a new one.
        """
        best, most = None, 0
        for kept in self._idle:
            own = (kept.principal, kept.salt, kept.to_disk) == (principal, salt, to_disk)
            shared = kept.sequence.shared(tokens) if own else 0
            worth = shared >= _WORTH * kept.sequence.cached or shared == len(tokens)
            if shared > most and worth:
                best, most = kept, shared
        if best is None:
            return self._new(principal, salt, to_disk)
        self._idle.remove(best)
        return best.sequence

    def give_back(
        self, principal: str, sequence: LocalSequence, salt: str | None = None, to_disk: bool = True
    ) -> None:
        """Keep ``sequence`` for a later request; the longest unused one may go for it."""
        if not sequence.cached:
            sequence.close()
            return
        sequence.backend.rest()
        self._idle.append(_Kept(principal, salt, to_disk, sequence))
        while len(self._idle) > self._most:
            self._idle.pop(0).sequence.close()

    def close(self) -> None:
        """End all idle sequences."""
        while self._idle:
            self._idle.pop().sequence.close()
