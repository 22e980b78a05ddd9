"""How much of what sessions held was not computed: figures of the whole server, of nobody alone."""

from __future__ import annotations

from typing import Any

from split_server.sessions.reuse import Reuse

# The names that the metrics have for where positions came from.
_SOURCES = {"pool_asked": "asked", "pool_sent": "sent", "waited": "waited", "disk": "disk"}


def cache_figures(reuse: Reuse | None, computed: int) -> dict[str, Any]:
    """``computed``: positions since the start. ``hit_share`` is of them and those taken in, 0..1;
    bytes are those that are kept now, on disk None without one.
    """
    taken = {name: 0 if reuse is None else reuse.taken[kind] for name, kind in _SOURCES.items()}
    found = sum(taken.values())
    disk = None if reuse is None or reuse.disk is None else reuse.disk.index.total
    return {
        "reuse": "off" if reuse is None else "exact",
        "tiers": {} if reuse is None else {tier: reuse.taken_tiers[tier] for tier in reuse.tiers},
        "positions": {"computed": computed, **taken},
        "hit_share": round(found / max(1, found + computed), 4),
        "bytes": {"memory": 0 if reuse is None else reuse.pool.held_bytes, "disk": disk},
    }
