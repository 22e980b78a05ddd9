"""What the host holds of one session's masks: ranges, s of each that is ready, last answers."""

from __future__ import annotations

from asyncio import Task
from dataclasses import dataclass, field

from split_he.modular import Residues
from split_masks.ranges import MaskRange

# Numbers of older ranges are told as lost, where they were used.
_REMEMBERED = 64


@dataclass(slots=True)
class Repeated:
    """The last of numbered requests: the same bytes are answered from here."""

    number: int = 0
    fingerprint: bytes = b""
    answer: Task[bytes] | None = None


@dataclass(slots=True, eq=False)
class SessionMasks:
    """``principal``: whose session it is. ``ranges``: handed out to it, in their order.

    ``next``: the number that is made next. ``kept``: s of each mask that is ready.
    ``pending``: numbers that are being reserved. ``used``, ``state``, ``answer``: the last masked
    state.
    """

    principal: str
    ranges: list[MaskRange] = field(default_factory=list)
    next: int = 0
    kept: dict[int, Residues] = field(default_factory=dict)
    pending: int = 0
    reserving: Repeated = field(default_factory=Repeated)
    making: Repeated = field(default_factory=Repeated)
    used: int = -1
    state: bytes = b""
    answer: bytes = b""

    @property
    def unmade(self) -> int:
        """Numbers of the last range that wait to be made."""
        return self.ranges[-1].end - self.next if self.ranges else 0

    @property
    def held(self) -> int:
        """Masks that are ready or will be."""
        return len(self.kept) + self.unmade + self.pending

    def begin(self, given: MaskRange) -> None:
        """Numbers that are made from now on."""
        self.ranges = [*self.ranges[1 - _REMEMBERED :], given]
        self.next = given.first

    def was_made(self, number: int) -> bool:
        """Whether a mask of this number was ready once."""
        own = any(number in given for given in self.ranges)
        return own and not (self.next <= number < self.ranges[-1].end)
