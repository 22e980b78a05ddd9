"""What the disk did, for metrics."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

# Files that were cut, changed, renamed or whose owner is nobody; reads and writes that failed, and
# reads that nobody could wait for.
FAILURES = ("short", "damaged", "swapped", "unowned", "read", "write", "slow")
# Why files go.
REMOVALS = ("room", "age")


@dataclass(slots=True)
class Counts:
    """Each number is written by one thread alone; ``seconds`` and ``files`` by ``read`` and
    ``write``.
    """

    failed: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    files: Counter[str] = field(default_factory=Counter)

    def done(self, work: str, seconds: float) -> None:
        """A file was read or written."""
        self.seconds[work] = self.seconds.get(work, 0.0) + seconds
        self.files[work] += 1
