"""What a model that is not loaded yet would take of the memory that there is for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from split_server.checkpoint.folder import Checkpoint
from split_server.memory.allocator import give_back_free_blocks
from split_server.memory.limit import MemoryLimit, Room, after
from split_server.memory.planner import RESERVE
from split_server.memory.shared import Seat, SharedMemory
from split_server.memory.streaming import beside_weights
from split_server.memory.weights import WeightsNeed
from split_server.serving.config import ServerConfig
from split_server.serving.plan import needs_of, plan_memory


@dataclass(frozen=True)
class Prospect:
    """``ways`` to load it, the dearest first: bytes that each takes against a limit of memory, with
    its first passes and one session.
    """

    seat: Seat
    limit: MemoryLimit
    ways: tuple[Callable[[Room], int], ...]

    def size(self, way: int) -> int:
        """Bytes that it takes in that way."""
        return self.ways[way](Room(0, ""))

    def lacking(self, way: int, *, waiting: bool = True) -> int:
        """Bytes that are missing for that way now, at most 0 where none are; ``waiting``: although
        what other models keep for later makes way.
        """
        seat = self.seat
        # A pass of another model may run meanwhile.
        taken = seat.spoken_for + seat.workspace - (seat.waiting if waiting else 0)
        rooms = [after(room, seat.untouched) for room in self.limit.rooms()]
        return max(self.ways[way](room) + taken - room.free for room in rooms)

    def make_way(self, way: int) -> None:
        """Have other models give up what they keep for later, as far as that way needs it."""
        if self.lacking(way, waiting=False) > 0:
            give_back_free_blocks()
        if (size := self.lacking(way, waiting=False)) > 0:
            self.seat.give_way(size)


def prospect_of(config: ServerConfig, checkpoint: Checkpoint, shared: SharedMemory) -> Prospect:
    """Of the model of ``config``. Raises the errors of ``split_server.errors``."""
    if config.engine == "llama":
        # What it needs is an extra.
        from split_server.serving.engines.llama_middle import llama_need

        seat, limit, texts, least = llama_need(config, checkpoint, shared, texts=config.compat)
        size = least + texts + RESERVE
        return Prospect(seat, limit, (lambda _: size,))
    planner, need = plan_memory(config, checkpoint, texts=config.compat, shared=shared)

    def way(need: WeightsNeed) -> Callable[[Room], int]:
        after_it = need.kept + beside_weights(planner, 1)
        return lambda room: max(need.loading(room) + RESERVE, after_it)

    needs = needs_of(config, checkpoint, planner, need)
    return Prospect(planner.seat, planner.limit, tuple(map(way, needs)))
