"""The rows of a step as other sessions of its principal know them, for the engine."""

from __future__ import annotations

from functools import cached_property

from split_server.kv.block_key import BLOCK
from split_server.sessions.reuse import Reuse
from split_server.sessions.session import Session


class StepRows:
    """``digests``: the chain after each of the rows behind ``start``; ``returned``: the states of
    how many of the last of them are answered, so that these are computed whatever is known;
    ``guessed``: how many of the last may be a draft. On the model thread alone.
    """

    def __init__(
        self,
        reuse: Reuse,
        session: Session,
        start: int,
        digests: list[bytes],
        returned: int = 1,
        guessed: int = 0,
    ) -> None:
        # All but the last of these may be taken in.
        self._findable = digests[: len(digests) - returned + 1]
        self.finds = len(self._findable) > 1
        self._reuse, self._session = reuse, session
        self._start, self._digests = start, digests
        self._sure = start + len(digests) - guessed

    @cached_property
    def blocks(self) -> list[tuple[int, bytes]]:
        """Ends and names of the whole blocks that the step completes for certain."""
        names, start, cache = self._session.names, self._start, self._session.cache
        # What is computed while something is hidden is nobody else's.
        if names is None or cache.hidden or cache.lineage.nameless:
            return []
        names = names.in_tier(self._session.tier)
        end = self._sure
        ends = range((start // BLOCK + 1) * BLOCK, end + 1, BLOCK)
        return [(at, names.name(at, self._digests[at - start - 1])) for at in ends]

    def known(self) -> int:
        """Positions, the step's first rows among them, that are kept."""
        knows, start = self._reuse.pool.knows, self._start
        known = (end for end, name in reversed(self.blocks) if knows(name))
        found = next(known, start)
        if self._session.takes == "exact":
            return found
        # What is exact is taken in as well.
        ends = [end for end, _ in reversed(self.blocks) if end > found]
        return next((end for end in ends if knows(self._exact(end))), found)

    def _exact(self, end: int) -> bytes:
        names = self._session.names
        return b"" if names is None else names.name(end, self._digests[end - self._start - 1])

    def take_in(self, waited_from: int | None) -> int:
        """Positions that the cache holds after the known ones were taken in."""
        digests = self._findable if self.finds else []
        return self._reuse.taken_in(self._session, self._start, digests, waited_from)

    def give(self, end: int) -> None:
        """Keep the positions up to ``end``, which are computed."""
        rows = self._digests[: min(end, self._sure) - self._start]
        self._reuse.publish(self._session, self._start, rows)
