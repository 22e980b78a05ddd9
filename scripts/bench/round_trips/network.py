"""What a step costs on its way and in the server's pass: the numbers of one case."""

from __future__ import annotations

from dataclasses import dataclass

# Of the embedded model: a step's header and the answer's, and a row of half precision.
HEADER_UP, HEADER_DOWN, ROW = 330, 150, 768


@dataclass(frozen=True, slots=True)
class Network:
    """``round_trip`` s; a pass takes ``fixed`` s and ``per_row`` s; the device ``head`` s to choose
    from one state; ``up`` and ``down`` in bits/s.
    """

    round_trip: float
    fixed: float = 0.008
    per_row: float = 0.0007
    head: float = 0.007
    up: float = 1e9
    down: float = 1e9

    def up_bytes(self, rows: int) -> int:
        """Of a step with so many rows."""
        return HEADER_UP + ROW * rows

    def down_bytes(self, rows: int) -> int:
        """Of an answer with so many states."""
        return HEADER_DOWN + ROW * rows

    def compute(self, rows: int) -> float:
        """Seconds of the pass over so many rows."""
        return self.fixed + self.per_row * rows

    def exchange(self, sent: int, returned: int) -> float:
        """Seconds from sending ``sent`` rows until ``returned`` states are here."""
        carried = 8 * self.up_bytes(sent) / self.up + 8 * self.down_bytes(returned) / self.down
        return self.round_trip + carried + self.compute(sent)
