"""The middle in llama.cpp."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import torch

from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.texts import TOKENIZER
from split_server.compat.text_process import TEXT_BYTES, process_bytes
from split_server.engine.model.convert import TORCH_DTYPES
from split_server.engine.model.threads import on_passing_thread
from split_server.errors import EngineUnusable, UnusableModel
from split_server.kv.buffers import BufferPool
from split_server.llama.model import ROWS, LlamaModel, LlamaPlan, least_bytes, load_llama, planned
from split_server.llama.plan import described_cells
from split_server.memory.budget import BudgetLimits
from split_server.memory.limit import MemoryLimit, Room, memory_limit_of
from split_server.memory.measured import MeasuredRoom
from split_server.memory.planner import RESERVE, MemoryPlanner
from split_server.memory.shared import Seat, SharedMemory
from split_server.serving.config import ComputeConfig, ServerConfig
from split_server.serving.engines.middle import Middle
from split_wire.errors import SplitError

_CPU = torch.device("cpu")
_log = logging.getLogger(__name__)


def load_llama_middle(
    config: ServerConfig, checkpoint: Checkpoint, shared: SharedMemory | None = None
) -> Middle:
    """The middle of ``checkpoint``, whose layers are a GGUF, after its first passes; ``shared``:
    the account of all models of the process, where there may be others.

    Raises the errors of ``split_server.errors``.
    """
    _refuse_options(config)
    seat = (SharedMemory() if shared is None else shared).seat()
    limit, reserve, beside = _limit(config, checkpoint, seat, texts=config.compat)
    free = _room(limit, reserve, seat)
    plan = planned(checkpoint, config.dtype, free, config.cache_bytes)
    planner = MemoryPlanner(plan.memory, limit, BufferPool(0), reserve, seat, beside)
    model = on_passing_thread(lambda: _loaded(config, checkpoint, plan, planner))
    return Middle(
        info=model.info,
        runner=model.runner,
        device=_CPU,
        dtype=TORCH_DTYPES[plan.dtype],
        pass_rows=ROWS,
        planner=planner,
        open_room=lambda: _open_room(config, planner, model),
        kernels=model.kernels,
        weights=plan.weights,
    )


def described_llama_plan(config: ComputeConfig, checkpoint: Checkpoint) -> Iterator[str]:
    """Lines that tell how much of a GGUF fits into the memory that is free, without loading it."""
    seat = SharedMemory().seat()
    limit, reserve, _ = _limit(config, checkpoint, seat, texts=True)
    room = _room(limit, reserve, seat)
    plan = planned(checkpoint, config.dtype, room)
    yield f"{checkpoint.name}, cells of {plan.kind}"
    yield from described_cells(plan.memory, plan.weights, room, mapped=plan.mapped)


def llama_need(
    config: ComputeConfig, checkpoint: Checkpoint, shared: SharedMemory, *, texts: bool = True
) -> tuple[Seat, MemoryLimit, int, int]:
    """Of a model that is not loaded yet: its place, its limit, bytes that stay free for its texts,
    and those that it takes at least.
    """
    seat = shared.seat()
    limit, reserve, _ = _limit(config, checkpoint, seat, texts=texts)
    return seat, limit, reserve - RESERVE, least_bytes(checkpoint, config.dtype)


def _loaded(
    config: ServerConfig, checkpoint: Checkpoint, plan: LlamaPlan, planner: MemoryPlanner
) -> LlamaModel:
    model = load_llama(
        checkpoint,
        plan,
        sessions=config.max_sessions,
        threads=config.threads,
        device=config.device,
        out_of_memory=planner.out_of_memory,
    )
    try:
        model.runner.warm_up()
    except (SplitError, RuntimeError, MemoryError) as error:
        raise UnusableModel(checkpoint.name, str(error)) from error
    return model


def _open_room(config: ServerConfig, planner: MemoryPlanner, model: LlamaModel) -> MeasuredRoom:
    total = model.cells.count * model.cells.bytes_per_cell
    limits = BudgetLimits(total, config.cache_bytes_per_principal or total)
    # Runs are copies of torch's layers.
    _log.info("keys and values go with their sessions: llama.cpp keeps none for later ones")
    return MeasuredRoom(limits, planner, None, caches=model.cells)


def _refuse_options(config: ServerConfig) -> None:
    if config.quantize != "none":
        raise EngineUnusable(
            "--quantize is for torch; llama.cpp computes with the types of the file"
        )
    if config.stream.isdigit():
        raise EngineUnusable(
            "--stream is for torch; llama.cpp leaves what does not fit in its file"
        )


def _limit(
    config: ComputeConfig, checkpoint: Checkpoint, seat: Seat, *, texts: bool
) -> tuple[MemoryLimit, int, int]:
    """What the process may take, bytes of it that stay free, and those of a process beside."""
    beside = process_bytes(checkpoint.path / TOKENIZER) if texts else 0
    limit = memory_limit_of(_CPU, config.memory_limit, beside, config.memory_share, seat)
    return limit, RESERVE + TEXT_BYTES if texts else RESERVE, beside


def _room(limit: MemoryLimit, reserve: int, seat: Seat) -> Room:
    room = limit.room(seat.untouched)
    free = room.free - reserve - seat.spoken_for
    return Room(free, room.source, room.counts_untouched, room.own)
