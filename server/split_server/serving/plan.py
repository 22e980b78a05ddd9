"""The memory plan of a model within this process's limits, and the room for caches in it."""

from __future__ import annotations

import logging

import torch

from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.layers.folder import default_folder
from split_server.checkpoint.layers.speed import folder_speed
from split_server.checkpoint.texts import TOKENIZER
from split_server.compat.responses.kept import KEPT_BYTES
from split_server.compat.scoring.blocks import SCORE_BYTES
from split_server.compat.text_process import TEXT_BYTES, process_bytes
from split_server.engine.budget import pass_rows
from split_server.engine.linears.integers.raw import raw_fault
from split_server.engine.model.loader import resolve_device, resolve_dtype
from split_server.engine.model.packed import padded
from split_server.errors import EngineUnusable, ModelTooLarge
from split_server.kv.buffers import BufferPool
from split_server.kv.kept_runs import PoolLimits
from split_server.kv.run_pool import RunPool
from split_server.memory.budget import IDLE_SHARE, BudgetLimits
from split_server.memory.limit import Room, memory_limit_of
from split_server.memory.measured import MeasuredRoom
from split_server.memory.plan import MemoryPlan, shape_of
from split_server.memory.planner import RESERVE, MemoryPlanner
from split_server.memory.shared import Seat, SharedMemory
from split_server.memory.streaming import (
    Streaming,
    all_streamed,
    described_streaming,
    fewest_streamed,
    streaming,
)
from split_server.memory.table import cache_budget, described, summary
from split_server.memory.ways import sizes_of_ways
from split_server.memory.weights import WeightsNeed, check_weights, weights_need
from split_server.serving.config import ComputeConfig, ServerConfig

# Of the budget of the caches for all runs, and of those for one principal's.
_POOL_SHARE = 2
# Beside a GPU: of the host's free memory. It is locked in place, which all other programs feel.
_HOST_SHARE = 4
_log = logging.getLogger(__name__)


def plan_memory(
    config: ComputeConfig,
    checkpoint: Checkpoint,
    *,
    texts: bool = True,
    shared: SharedMemory | None = None,
) -> tuple[MemoryPlanner, WeightsNeed]:
    """The plan of the model within this process's limits, and what its weights need.

    ``texts``: it tokenizes for the OpenAI and Kobold APIs; ``shared``: the account of all models
    of the process, where there may be others.
    """
    seat = (SharedMemory() if shared is None else shared).seat()
    device = resolve_device(config.device)
    item = resolve_dtype(checkpoint, config.dtype, device).itemsize
    beside = process_bytes(checkpoint.path / TOKENIZER) if texts else 0
    limit = memory_limit_of(device, config.memory_limit, beside, config.memory_share, seat)
    shape = shape_of(checkpoint.config, item, device.type)
    plan = MemoryPlan(shape, padded(pass_rows(device) + 1))
    texts_bytes = TEXT_BYTES + KEPT_BYTES + SCORE_BYTES
    reserve = RESERVE + texts_bytes if texts else RESERVE
    planner = MemoryPlanner(plan, limit, BufferPool(0), reserve, seat, beside)
    return planner, weights_need(checkpoint, item, config.quantize)


def plan_stream(
    config: ComputeConfig, checkpoint: Checkpoint, planner: MemoryPlanner, need: WeightsNeed
) -> Streaming | None:
    """Which layers are read from disk in each pass, None where all are in memory, as ``need`` has
    it. Raises EngineUnusable where layers were asked for that cannot be, ModelTooLarge.
    """
    against = _against_streaming(config, checkpoint)
    item = planner.plan.shape.item_bytes
    if config.stream.isdigit():
        if against:
            raise EngineUnusable(f"--stream {config.stream}: {against}")
        return streaming(checkpoint, item, int(config.stream), config.quantize)
    if config.stream == "off" or against or not _too_large(checkpoint, planner, need):
        return None
    return fewest_streamed(checkpoint, item, planner, config.quantize)


def needs_of(
    config: ComputeConfig, checkpoint: Checkpoint, planner: MemoryPlanner, need: WeightsNeed
) -> tuple[WeightsNeed, ...]:
    """What weights may need, the dearest first: all in memory, as ``need`` has it, and where layers
    may be read from disk, none but that.
    """
    item = planner.plan.shape.item_bytes
    if config.stream.isdigit():
        return (streaming(checkpoint, item, int(config.stream), config.quantize).need,)
    if config.stream == "off" or _against_streaming(config, checkpoint):
        return (need,)
    return need, all_streamed(checkpoint, item, config.quantize).need


def _too_large(checkpoint: Checkpoint, planner: MemoryPlanner, need: WeightsNeed) -> bool:
    try:
        check_weights(checkpoint.name, need, planner)
    except ModelTooLarge:
        return True
    return False


def _against_streaming(config: ComputeConfig, checkpoint: Checkpoint) -> str:
    """The reason why no layer can be read from disk in each pass; empty where it can."""
    if resolve_device(config.device).type != "cpu":
        return "layers are read from disk for a processor only; try --device cpu"
    if config.quantize not in ("none", "int8") or checkpoint.grouped:
        return "layers are read from disk plain or as int8, not as they are quantized here"
    fault = raw_fault() if config.quantize == "int8" else ""
    return f"int8 layers cannot be read from disk here: {fault}" if fault else ""


def open_room(config: ServerConfig, planner: MemoryPlanner) -> MeasuredRoom:
    """The room for caches in what is left now."""
    left, seat = planner.room(), planner.seat
    # What other models hold for caches is in the budget, which is one for all.
    free = left.free - planner.reserve + seat.reserved + seat.waiting
    total = config.cache_bytes or cache_budget(planner.plan, free)
    planner.pool.bound(total // IDLE_SHARE)
    _log.info("memory: %s", summary(planner.plan, total, planner.reserve, left))
    limits = BudgetLimits(total, config.cache_bytes_per_principal or total)
    apart = resolve_device(config.device).type != "cpu"
    share = _host_free(config, seat) // _HOST_SHARE if apart else total // _POOL_SHARE
    return MeasuredRoom(limits, planner, _run_pool(config, share), apart=apart)


def _host_free(config: ServerConfig, seat: Seat) -> int:
    """Bytes of the host's memory that what is kept of a GPU's caches may lie in."""
    limit = memory_limit_of(torch.device("cpu"), share=config.memory_share, seat=seat)
    return max(limit.room().free, 0)


def _run_pool(config: ServerConfig, share: int) -> RunPool | None:
    """What is kept for later sessions, in ``share`` bytes; None where nothing is."""
    if config.kv_reuse == "off":
        return None
    most = config.kv_pool_bytes or share
    own = config.kv_pool_bytes_per_principal or most // _POOL_SHARE
    return RunPool(PoolLimits(most, min(own, most), config.kv_pool_ttl))


def needed(
    config: ComputeConfig, checkpoint: Checkpoint, planner: MemoryPlanner, need: WeightsNeed
) -> WeightsNeed:
    """What weights need as they would be loaded now, whether they fit or not."""
    streamed = _streamed(config, checkpoint, planner, need)
    return need if streamed is None else streamed.need


def _streamed(
    config: ComputeConfig, checkpoint: Checkpoint, planner: MemoryPlanner, need: WeightsNeed
) -> Streaming | None:
    try:
        return plan_stream(config, checkpoint, planner, need)
    except ModelTooLarge:
        return None


def described_plan(config: ComputeConfig, checkpoint: Checkpoint) -> list[str]:
    """Lines that tell how much of the model fits into the memory that is free, without loading it.

    Raises the errors of ``split_server.errors``.
    """
    planner, need = plan_memory(config, checkpoint)
    streamed = _streamed(config, checkpoint, planner, need)
    need = need if streamed is None else streamed.need
    room = planner.room()
    left = Room(room.free - need.kept, room.source)
    item = planner.plan.shape.item_bytes
    lines = [f"{checkpoint.name}, {item} bytes a value"]
    if streamed is not None:
        folder = config.stream_folder or default_folder()
        speed = folder_speed(folder, checkpoint.weight_files)
        lines += described_streaming(streamed, speed)
    lines += described(planner.plan, need.kept, planner.reserve, left)
    return lines + (sizes_of_ways(checkpoint, item) if config.quantize == "auto" else [])
