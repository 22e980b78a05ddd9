"""What is kept for one principal: its figures, and its deletion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from split_server.sessions.reuse import Reuse
from split_wire.errors import SplitError
from split_wire.tiers import Tier


class SaltNeeded(SplitError):
    """Many people are this principal, so what is kept of all of them is nobody's to delete."""

    code = "salt_needed"

    def __init__(self) -> None:
        super().__init__("without a token, only what is kept under a cache_salt can be deleted")


class OwnCache:
    """``reuse``: None where nothing is kept; ``beside``: of all models that the server has in
    memory, from which a deletion takes as well. Lives on the event loop.
    """

    def __init__(self, reuse: Reuse | None, beside: Callable[[], Iterable[Reuse]] = tuple) -> None:
        self._reuse, self._beside = reuse, beside

    def figures(self, principal: str) -> dict[str, Any]:
        """The principal's own, in bytes and seconds; none are told to one that is many people."""
        reuse = self._reuse
        if reuse is None:
            return _document("off", (), 0, 0, 0, 0, 0, None)
        pool, limits = reuse.pool, reuse.pool.limits
        shared = reuse.is_shared(principal)
        return _document(
            "off" if reuse.stopped(principal) else "exact",
            reuse.tiers,
            0 if shared else pool.count_of(principal),
            0 if shared else pool.held_by(principal),
            min(limits.per_principal, limits.total),
            limits.ttl,
            0 if shared else pool.pinned_by(principal),
            None if shared or reuse.disk is None else reuse.disk.figures(principal),
        )

    async def purge(self, principal: str, salt: str | None) -> dict[str, int]:
        """Delete what is kept of the principal's sessions, of those with ``salt`` if one is given;
        how much that was. Raises SaltNeeded, Overloaded, ShuttingDown.
        """
        every = dict.fromkeys(self._beside())
        if self._reuse is not None:
            every[self._reuse] = None
        if not salt and any(reuse.is_shared(principal) for reuse in every):
            raise SaltNeeded
        purged = [await reuse.purge(principal, salt) for reuse in every]
        return {"runs": sum(runs for runs, _ in purged), "bytes": sum(size for _, size in purged)}


def _document(
    reuse: str,
    tiers: Sequence[Tier],
    runs: int,
    held: int,
    limit: int,
    ttl: float,
    pinned: int,
    disk: dict[str, Any] | None,
) -> dict[str, Any]:
    return {
        "reuse": reuse,
        "tiers": [*tiers],
        "runs": runs,
        "bytes": held,
        "limit_bytes": limit,
        "ttl_seconds": ttl,
        "pinned_bytes": pinned,
        "disk": disk,
    }
