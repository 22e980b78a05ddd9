"""A model in llama.cpp: what fits, whether it runs, and its runner."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.gguf.folder import SPLIT_FILE
from split_server.engine.model.convert import TORCH_DTYPES
from split_server.engine.model.cores import free_cores
from split_server.engine.model.info import ModelInfo
from split_server.engine.model.loader import model_info
from split_server.errors import EngineUnusable, MalformedCheckpoint, ModelTooLarge
from split_server.llama.cells import MOST_SEQUENCES, Cells
from split_server.llama.context import Context, ContextOptions
from split_server.llama.library import Library, open_library
from split_server.llama.plan import CELL_GROUP, CellPlan, buffer_bytes, cells_within
from split_server.llama.runner import LlamaRunner, scale_of
from split_server.llama.trial import tried
from split_server.llama.watch import Watch
from split_server.memory.limit import Room
from split_server.memory.plan import shape_of
from split_wire.errors import SplitError
from split_wire.tensor import WireDtype

# Of the range of half precision, which rounded inputs of a product may exceed a little.
_HALF_RANGE = 0.8 * 65_504
# Of one pass. The library sets buffers aside for the scores of all rows over all cells.
ROWS = 128
# Sessions that end go on having their number until the next pass.
_SPARE_SEQUENCES = 8
# Code and tables of the library, beside weights, cells and buffers.
_BESIDES = 96 << 20
# As for torch: a second core pays from matrices of this size on.
_WORTH_SHARING = 1 << 20
_NAMES: dict[str, WireDtype] = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class LlamaPlan:
    """What of a file fits: the cells in ``memory``, of ``kind``; ``mapped``: weights of ``weights``
    bytes stay in the file. ``dtype``: of hidden states.
    """

    memory: CellPlan
    kind: WireDtype
    dtype: WireDtype
    weights: int
    mapped: bool


def planned(checkpoint: Checkpoint, dtype: str, room: Room, cache_bytes: int = 0) -> LlamaPlan:
    """``dtype``: as configured; ``cache_bytes``: of the cells, 0 takes what is sensible.

    Raises EngineUnusable, ModelTooLarge, MalformedCheckpoint.
    """
    states = _states(checkpoint, dtype)
    kind = _cell_kind(checkpoint, states)
    shape = shape_of(checkpoint.config, TORCH_DTYPES[kind].itemsize)
    weights = _middle(checkpoint).stat().st_size
    least = buffer_bytes(shape, ROWS, CELL_GROUP) + CELL_GROUP * shape.kv_bytes_per_position
    mapped = room.free < weights + _BESIDES + 2 * least
    free = room.free - _BESIDES - (weights if room.counts_untouched or not mapped else 0)
    cells = cells_within(shape, ROWS, free, cache_bytes)
    if not cells:
        raise ModelTooLarge(checkpoint.name, room.free - free + least, room.free, room.source)
    memory = CellPlan(shape, ROWS, cells)
    return LlamaPlan(memory=memory, kind=kind, dtype=states, weights=weights, mapped=mapped)


def least_bytes(checkpoint: Checkpoint, dtype: str) -> int:
    """Bytes of a model with few cells whose weights are in memory. Raises as :func:`planned`."""
    kind = _cell_kind(checkpoint, _states(checkpoint, dtype))
    shape = shape_of(checkpoint.config, TORCH_DTYPES[kind].itemsize)
    least = buffer_bytes(shape, ROWS, CELL_GROUP) + CELL_GROUP * shape.kv_bytes_per_position
    return _middle(checkpoint).stat().st_size + _BESIDES + 2 * least


@dataclass(frozen=True, kw_only=True)
class LlamaModel:
    """``info`` of the model that ``runner`` computes; ``cells`` of its sessions; ``kernels``: with
    what, in words.
    """

    info: ModelInfo
    runner: LlamaRunner
    cells: Cells
    kernels: dict[str, str]


def load_llama(
    checkpoint: Checkpoint,
    plan: LlamaPlan,
    *,
    sessions: int,
    threads: int = 0,
    device: str = "auto",
    out_of_memory: Callable[[int], SplitError],
) -> LlamaModel:
    """Load the middle of ``checkpoint`` for so many ``sessions``. Raises EngineUnusable."""
    library, path = open_library(), _middle(checkpoint)
    sequences = sessions + _SPARE_SEQUENCES
    if sequences > MOST_SEQUENCES:
        most = MOST_SEQUENCES - _SPARE_SEQUENCES
        raise EngineUnusable(f"llama.cpp has at most {most} sessions; lower --max-sessions")
    options = ContextOptions(
        cells=plan.memory.cells,
        sequences=sequences,
        rows=ROWS,
        threads=threads or _threads(plan),
        kind=plan.kind,
        mapped=plan.mapped,
        gpu_layers=_gpu_layers(library, device),
    )
    options = tried(path, options)
    info = model_info(checkpoint, checkpoint.config["model_type"], TORCH_DTYPES[plan.dtype])
    watch = Watch(library, info.num_heads)
    context = Context(library, path, options, watch.callback)
    size = plan.memory.shape.kv_bytes_per_position
    cells = Cells(options.cells, size, sequences)
    scale = scale_of(info.family, info.hidden_size)
    runner = LlamaRunner(context, cells, watch, info, out_of_memory, scale)
    where = "weights stay in the file" if plan.mapped else "weights in memory"
    order = "" if options.reordered else ", matrices in the file's order"
    name = f"llama.cpp ({library.version})"
    _log.info("%s: %d cells of %s, %s%s", name, options.cells, plan.kind, where, order)
    return LlamaModel(
        info=info, runner=runner, cells=cells, kernels={"attention": name, "linears": name}
    )


def _middle(checkpoint: Checkpoint) -> Path:
    if checkpoint.middle is None:
        raise EngineUnusable(f"{checkpoint.name} is no GGUF file, and llama.cpp reads nothing else")
    return checkpoint.middle


def _states(checkpoint: Checkpoint, dtype: str) -> WireDtype:
    """The dtype of hidden states, and of cells where that holds them."""
    if dtype == "auto":
        return "f32" if checkpoint.config.get("torch_dtype") == "float32" else "f16"
    return _NAMES[dtype]


def _cell_kind(checkpoint: Checkpoint, states: WireDtype) -> WireDtype:
    """The dtype of keys and values: one that none of them can exceed."""
    known = checkpoint.read_json(SPLIT_FILE) or {}
    bound = known.get("largest_key_or_value")
    if not isinstance(bound, (int, float)):
        raise MalformedCheckpoint(f"{SPLIT_FILE} of {checkpoint.name} lacks its bound")
    if states != "f16" or bound <= _HALF_RANGE:
        return states
    _log.info("keys and values may exceed half precision; cells are of bfloat16")
    return "bf16"


def _threads(plan: LlamaPlan) -> int:
    shape = plan.memory.shape
    if shape.hidden_size * shape.intermediate_size < _WORTH_SHARING:
        return 1
    return free_cores()


def _gpu_layers(library: Library, device: str) -> int:
    able = bool(library.functions.llama_supports_gpu_offload())
    if device not in ("auto", "cpu") and not able:
        raise EngineUnusable(
            f"llama-cpp-python was built without a GPU, so --device {device} cannot be had"
        )
    return -1 if able and device != "cpu" else 0
