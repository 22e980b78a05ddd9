"""What one-time masks did for the replies of one client."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MaskStats:
    """Counts since the client connected: ``made`` masks, of which ``used`` states had one and
    ``lost`` none will have; ``encrypted`` states had none. ``ready``: for the next replies.

    ``wanted``: for one reply. ``reason``: why none is being made, "" while nothing stands against
    it.
    """

    wanted: int
    ready: int
    made: int
    used: int
    lost: int
    encrypted: int
    reason: str
