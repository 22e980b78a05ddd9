"""Passes whose memory is compared with the plan, and that survive when it runs out."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import torch

from split_server.engine.model.packed import Slice
from split_server.engine.model.runner import Pass
from split_server.memory.errors import is_memory_error
from split_server.memory.planner import MemoryPlanner
from split_server.memory.usage import PeakMeter

_log = logging.getLogger(__name__)
# Measuring costs about 0.1 ms, which a pass over fewer rows would notice.
_WORTH_MEASURING_ROWS = 64


class MeasuredPasses:
    """Runs the passes of a :class:`ModelRunner`.

    ``planner``: what they are compared with; ``meter``: of the device's memory.
    """

    def __init__(self, planner: MemoryPlanner, meter: PeakMeter) -> None:
        self._planner = planner
        self._meter = meter

    def __call__(self, slices: Sequence[Slice], run: Pass) -> list[torch.Tensor]:
        """What ``run`` returns. Raises CacheFull when memory runs out."""
        try:
            if sum(part.rows for part in slices) < _WORTH_MEASURING_ROWS:
                return run(slices)
            return self._measured(slices, run)
        except (MemoryError, OSError, RuntimeError) as error:
            if not is_memory_error(error):
                raise
            _log.warning("memory ran out in a pass: %s", str(error).partition("\n")[0])
        # Not raised from the error, which would keep the tensors of the pass alive.
        raise self._planner.out_of_memory(max(part.end for part in slices))

    def _measured(self, slices: Sequence[Slice], run: Pass) -> list[torch.Tensor]:
        planner, pool = self._planner, self._planner.pool
        growth, exchange = self._growth(slices)
        held, idle = _held(slices), pool.idle_bytes
        self._meter.mark()
        hidden = run(slices)
        risen = self._meter.risen()
        if pool.idle_bytes != idle:
            # Recycled buffers moved in or out: what rose is not what was used.
            return hidden
        grown = _held(slices) - held
        rows = sum(part.rows for part in slices)
        written = grown if self._meter.counts_untouched else planner.plan.row_bytes(rows)
        workspace = planner.plan.workspace(rows, max(part.end for part in slices)) + exchange
        planner.record.add(growth, grown, workspace, max(risen - written, 0))
        return hidden

    def _growth(self, slices: Sequence[Slice]) -> tuple[int, int]:
        """Bytes that the buffers will grow by, and that are held twice on the way."""
        plan = self._planner.plan
        growing = [part for part in slices if part.end > part.cache.capacity]
        wanted = sum(plan.cache_bytes(part.cache.own(part.end)) for part in growing)
        exchanged = (part.cache.own(part.end) for part in growing if part.start)
        exchange = max(map(plan.exchange, exchanged), default=0)
        return wanted - _held(growing), exchange


def _held(slices: Sequence[Slice]) -> int:
    return sum(part.cache.allocated_bytes for part in slices)
