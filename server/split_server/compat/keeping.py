"""What becomes of the keys and values of a request's prompt."""

from __future__ import annotations

from dataclasses import dataclass

from split_wire.tiers import Cache

# Characters of a salt, and of a group's name.
MAX_SALT = 256
MAX_GROUP = 64
# Positions that a group may be named for: what every reader of JSON tells exactly.
MAX_SHARED = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Keeping:
    """``salt`` divides what is kept of its principal's prompts; ``to_disk``: it may be kept there.
    ``cache``: the worst tier that it takes, or ``off``: nothing is kept or found. ``group``: the
    name of a group of principals that find the first ``until`` positions.
    """

    salt: str | None = None
    to_disk: bool = True
    group: str | None = None
    until: int = 0
    cache: Cache = "exact"


USUAL = Keeping()
