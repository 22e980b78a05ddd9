"""Queries to an adapter: states without it and with it, as any of its users gets them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import chat_frame, chat_ids
from split_client.audit.session import AllStates
from split_client.model.ends import DeviceEnds


def query(
    ends: DeviceEnds, session: AllStates, adapter: str, texts: Sequence[str], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``count`` states [count, H] and what the server's adapter adds to each, from ``texts``.

    Each row is one query. Fewer come where the texts do not have so many tokens. Raises
    ServerRefused (``unknown_adapter``).
    """
    states, added, total = [], [], 0
    skipped = len(chat_frame(ends)[0])
    for text in texts:
        if total >= count:
            break
        rows = ends.embedder.lookup(chat_ids(ends, text), session.dtype)
        plain = session.run(rows, 0).astype(np.float64)
        # The template's first tokens give the same states every time.
        states.append(plain[skipped:])
        added.append((session.run(rows, 0, adapter) - plain)[skipped:])
        total += len(plain) - skipped
    return np.concatenate(states)[:count], np.concatenate(added)[:count]
