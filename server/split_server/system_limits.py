"""Limits that a process of ours sets itself, within those that it was given."""

from __future__ import annotations

import resource


def limit_to(kind: int, wanted: int) -> None:
    """Have ``kind`` (of ``resource``) be at most ``wanted`` from here on; a smaller limit that the
    operator has set stays.
    """
    _, most = resource.getrlimit(kind)
    limit = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(kind, (limit, limit))
