"""Drafts of a generation beside the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from split_client.generation.speculation.costs import StepCosts
from split_client.generation.speculation.drafter import Drafter, Permitted
from split_client.generation.speculation.drafts import NO_DRAFT, Draft, DraftSource
from split_client.generation.speculation.length import AdaptiveLength
from split_client.generation.speculation.suffix import Suffix
from split_server.compat.drafting.memories import Memories, Recalled
from split_server.compat.request import GenerationRequest
from split_server.sessions.reuse import Reuse


class Passes(Protocol):
    """What a session is told of the engine; seconds."""

    def alone(self) -> bool:
        """Whether nobody but this session waits for the model or decodes."""

    def pass_seconds(self, rows: int) -> float:
        """What a pass with ``rows`` rows of decoding takes, 0 while that is not known."""


class PassCosts(StepCosts):
    """Rows cost what ``passes`` of so many were measured to take: passes are filled up to sizes,
    so that some rows are free.
    """

    def __init__(self, passes: Passes) -> None:
        super().__init__()
        self._passes = passes

    def of(self, rows: int) -> float:
        """As :meth:`StepCosts.of`."""
        more = self._passes.pass_seconds(rows) - self._passes.pass_seconds(1)
        return self.step + max(0.0, more)


class BesideDrafter(Drafter):
    """Guesses only while ``alone``: rows of a draft would be rows of those who wait."""

    def __init__(
        self, sources: list[DraftSource], passes: Passes, memo: Recalled | None = None
    ) -> None:
        super().__init__(sources, AdaptiveLength(PassCosts(passes)), memo)
        self._alone: Callable[[], bool] = passes.alone

    def draft(self, tokens: list[int], most: int, permitted: Permitted | None = None) -> Draft:
        """As :meth:`Drafter.draft`; the sources follow once there is room for their guesses."""
        return super().draft(tokens, most, permitted) if self._alone() else NO_DRAFT


class Drafting:
    """``reuse``: None where nothing of a text is kept beyond its request. Lives on the event
    loop; each drafter on the thread of its generation.
    """

    def __init__(self, reuse: Reuse | None) -> None:
        self._reuse = reuse
        self.memories = Memories()
        if reuse is not None:
            reuse.beside = self.memories

    def drafter(self, principal: str, request: GenerationRequest, passes: Passes) -> Drafter | None:
        """For one reply; None where each of its tokens needs a pass of its own."""
        if request.attention is not None or request.max_tokens == 1:
            return None
        keeping = request.keeping
        memo = None if keeping.cache == "off" else self._memo(principal, keeping.salt)
        sources: list[DraftSource] = [Suffix()] if memo is None else [Suffix(), memo]
        drafter = BesideDrafter(sources, passes, memo)
        drafter.expect(request.expected)
        return drafter

    def _memo(self, principal: str, salt: str | None) -> Recalled | None:
        """Nothing is remembered of whom many people may be, as nothing else is kept of them."""
        reuse = self._reuse
        if reuse is None or (not salt and reuse.is_shared(principal)):
            return None
        return self.memories.of(principal, salt)
