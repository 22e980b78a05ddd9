"""The middle in torch."""

from __future__ import annotations

import logging

from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.layers.folder import default_folder
from split_server.engine.budget import pass_rows
from split_server.engine.model.blending import Blending
from split_server.engine.model.loader import Backbone, load_backbone, resolve_device, resolve_dtype
from split_server.engine.model.runner import Forward, ModelRunner
from split_server.engine.model.streaming import LayersOnDisk, layer_file
from split_server.engine.model.threads import on_passing_thread
from split_server.engine.model.trials.rotation import key_rotation
from split_server.engine.model.trials.sharing import sharing_rule
from split_server.errors import EngineUnusable, UnusableModel
from split_server.memory.allocator import give_back_free_blocks, give_back_large_blocks
from split_server.memory.passes import MeasuredPasses
from split_server.memory.planner import MemoryPlanner
from split_server.memory.shared import SharedMemory
from split_server.memory.streaming import Streaming
from split_server.memory.usage import peak_meter
from split_server.memory.ways import recommendation
from split_server.memory.weights import check_weights
from split_server.serving.config import ServerConfig
from split_server.serving.engines.middle import Middle
from split_server.serving.plan import open_room, plan_memory, plan_stream
from split_wire.errors import SplitError

_log = logging.getLogger(__name__)


def load_torch_middle(
    config: ServerConfig,
    checkpoint: Checkpoint,
    digest: str,
    shared: SharedMemory | None = None,
) -> Middle:
    """The middle of ``checkpoint``, whose weights have this ``digest``, after its first passes;
    ``shared``: the account of all models of the process, where there may be others.

    Raises the errors of ``split_server.errors``.
    """
    if checkpoint.middle is not None:
        raise EngineUnusable(
            f"the layers of {checkpoint.name} are a GGUF, which torch does not read; name the file "
            "that it was made of"
        )
    planner, need = plan_memory(config, checkpoint, texts=config.compat, shared=shared)
    streamed = plan_stream(config, checkpoint, planner, need)
    need = need if streamed is None else streamed.need
    check_weights(checkpoint.name, need, planner)
    on_disk = None if streamed is None else _on_disk(config, checkpoint, streamed, digest)
    if planner.room().own:
        give_back_large_blocks()
    backbone, runner = on_passing_thread(lambda: _loaded(checkpoint, config, planner, on_disk))
    # What was tried out while loading has left free blocks between those in use.
    give_back_free_blocks()
    if config.quantize == "auto":
        _log.info("%s", recommendation(checkpoint, backbone, planner.room().free))
    return Middle(
        info=backbone.info,
        runner=runner,
        device=backbone.device,
        dtype=backbone.dtype,
        pass_rows=pass_rows(backbone.device),
        planner=planner,
        open_room=lambda: open_room(config, planner),
        kernels=_kernels(backbone),
        weights=need.kept,
        quantized=backbone.matrices.quantized,
        hides=True,
        sharing_rule=lambda: on_passing_thread(lambda: sharing_rule(backbone)),
        rotation=lambda: on_passing_thread(lambda: key_rotation(backbone)),
        blending=Blending(backbone),
        stream=backbone.stream,
    )


def _loaded(
    checkpoint: Checkpoint,
    config: ServerConfig,
    planner: MemoryPlanner,
    on_disk: LayersOnDisk | None,
) -> tuple[Backbone, ModelRunner]:
    backbone = load_backbone(
        checkpoint,
        config.dtype,
        config.device,
        linears=config.linears,
        quantize=config.quantize,
        threads=config.threads,
        layers=config.layers,
        on_disk=on_disk,
    )
    measured = MeasuredPasses(planner, peak_meter(backbone.device))
    runner = ModelRunner(backbone, config.threads, measured, _forward(backbone))
    _try_out(runner, backbone.info.name)
    return backbone, runner


def _on_disk(
    config: ServerConfig, checkpoint: Checkpoint, streamed: Streaming, digest: str
) -> LayersOnDisk:
    """On the calling thread, where an interrupt ends it."""
    _log.info(
        "%d of %d layers are read from disk in each pass", len(streamed.numbers), streamed.layers
    )
    dtype = resolve_dtype(checkpoint, config.dtype, resolve_device(config.device))
    folder = config.stream_folder or default_folder()
    file = layer_file(checkpoint, dtype, folder, digest, quantize=config.quantize)
    return LayersOnDisk(streamed.numbers, file)


def _forward(backbone: Backbone) -> Forward | None:
    """What computes passes on the device of ``backbone``; None: a packed batch."""
    if backbone.device.type != "cuda":
        return None
    # Its kernels need Triton, which only builds of torch for CUDA bring.
    from split_server.engine.gpu.forward import GpuForward

    return GpuForward(backbone)


def _try_out(runner: ModelRunner, name: str) -> None:
    """Fail here rather than at the first user's first step."""
    try:
        runner.warm_up()
    except (SplitError, RuntimeError, MemoryError) as error:
        raise UnusableModel(name, str(error)) from error


def _kernels(backbone: Backbone) -> dict[str, str]:
    """With what is computed, as it was chosen at the start."""
    config = getattr(backbone.module, "config", None)
    # No kernel of torch caps scores.
    capped = getattr(config, "attn_logit_softcapping", None) is not None
    rows = "torch matmul" if capped else "torch sdpa"
    attention = f"triton, {rows}" if backbone.device.type == "cuda" else rows
    return {"attention": attention, "linears": backbone.linears, "pages": backbone.pages}
