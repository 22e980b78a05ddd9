"""A runner that compares the memory of its passes with the plan and survives when it runs out."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from split_server.engine.loader import Backbone
from split_server.engine.memory_errors import is_memory_error
from split_server.engine.memory_planner import MemoryPlanner
from split_server.engine.memory_usage import PeakMeter
from split_server.engine.packed import Slice
from split_server.engine.runner import ModelRunner

# Measuring costs about 0.1 ms, which a pass over fewer rows would notice.
_WORTH_MEASURING_ROWS = 64


class PlannedRunner(ModelRunner):
    """``planner``: what passes are compared with; ``meter``: of the device's memory."""

    def __init__(
        self, backbone: Backbone, threads: int, planner: MemoryPlanner, meter: PeakMeter
    ) -> None:
        super().__init__(backbone, threads)
        self._planner = planner
        self._meter = meter

    def run(self, slices: Sequence[Slice]) -> list[torch.Tensor]:
        """As :meth:`ModelRunner.run`. Raises CacheFull when memory runs out."""
        try:
            if sum(part.rows for part in slices) < _WORTH_MEASURING_ROWS:
                return super().run(slices)
            return self._measured(slices)
        except (MemoryError, RuntimeError) as error:
            if not is_memory_error(error):
                raise
            raise self._planner.out_of_memory(max(part.end for part in slices)) from error

    def _measured(self, slices: Sequence[Slice]) -> list[torch.Tensor]:
        pool, plan = self._planner.pool, self._planner.plan
        growth = sum(
            plan.cache_bytes(part.end) - part.cache.allocated_bytes
            for part in slices
            if part.end > part.cache.capacity
        )
        held = sum(part.cache.allocated_bytes for part in slices)
        idle = pool.idle_bytes
        self._meter.mark()
        hidden = super().run(slices)
        # Buffers that came from the pool or went to it have moved, not risen.
        risen = self._meter.risen() - (pool.idle_bytes - idle)
        grown = sum(part.cache.allocated_bytes for part in slices) - held
        rows = sum(part.rows for part in slices)
        written = grown if self._meter.counts_untouched else plan.row_bytes(rows)
        workspace = plan.workspace(rows, max(part.end for part in slices))
        self._planner.record.add(growth, grown, workspace, max(risen - written, 0))
        return hidden
