"""The memory of the process as a document: what binds, what is held, how good predictions are."""

from __future__ import annotations

from typing import Any

from split_server.engine.streamed.layers import Stream
from split_server.kv_disk.tier import DiskTier
from split_server.memory.measured import MeasuredRoom
from split_server.memory.record import Ratios
from split_server.memory.usage import process_usage
from split_wire.messages import DEFAULT_MAX_ROWS


def memory_report(
    measured: MeasuredRoom, disk: DiskTier | None = None, stream: Stream | None = None
) -> dict[str, Any]:
    """Sizes in bytes; ``disk``: what is kept beyond the process, ``stream``: of layers that are
    read in each pass, None without. Nothing in it belongs to a principal.
    """
    planner = measured.planner
    budget, reserved = measured.budget.total, measured.budget.in_use
    room = planner.room()
    usage = process_usage()
    kept = 0 if measured.runs is None else measured.runs.held_bytes
    # What is kept for later sessions makes way.
    free = room.free + measured.yielding_bytes - planner.reserve
    within_budget = planner.plan.positions_within(budget - reserved)
    return {
        "limit": {"source": room.source, "free": max(room.free, 0), "kept_free": planner.reserve},
        "held": {"private": usage.private, "caches": planner.held()},
        "caches": {"budget": budget, "reserved": reserved, "idle": planner.pool.idle_bytes},
        "kept": {
            "bytes": kept,
            "runs": 0 if measured.runs is None else len(measured.runs),
            "disk": None if disk is None else {"bytes": disk.index.total, "files": len(disk.index)},
        },
        "streamed": None if stream is None else _streamed(stream),
        "largest_prompt": min(planner.fits(None, free, DEFAULT_MAX_ROWS), within_budget),
        "predictions": _predictions(planner.record.ratios(), planner.record.correction),
        "refused": planner.refused,
        "failed": planner.failed,
    }


def _streamed(stream: Stream) -> dict[str, Any]:
    """What passes read, and how fast."""
    return {
        "layers": len(stream.numbers),
        "resident": stream.resident,
        "slots": stream.slot_bytes,
        "pass_bytes": stream.pass_bytes,
        "bytes_per_second": round(stream.counts.bytes_per_second),
        "tokens_per_second": round(stream.passes_per_second, 3),
    }


def _predictions(ratios: Ratios | None, correction: float) -> dict[str, Any]:
    """Actual over predicted bytes of passes."""
    document: dict[str, Any] = {"correction": round(correction, 3), "passes": 0}
    if ratios is not None:
        document |= {
            "passes": ratios.count,
            "p50": round(ratios.p50, 3),
            "p95": round(ratios.p95, 3),
            "max": round(ratios.most, 3),
        }
    return document
