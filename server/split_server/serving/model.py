"""A served model: checked against the memory there is, and loaded."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.errors import AdapterUnusable
from split_server.checkpoint.catalog import Catalog
from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.manifest import Manifest
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.engine.model.runner import Forward, ModelRunner
from split_server.engine.model.threads import on_passing_thread
from split_server.errors import UnusableModel
from split_server.memory.allocator import give_back_large_blocks
from split_server.memory.passes import MeasuredPasses
from split_server.memory.planner import MemoryPlanner
from split_server.memory.usage import peak_meter
from split_server.memory.ways import recommendation
from split_server.memory.weights import check_weights
from split_server.serving.config import ServerConfig
from split_server.serving.opened import Opened, open_all
from split_server.serving.plan import plan_memory
from split_wire.errors import SplitError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ServedModel:
    """``catalog`` and ``manifest``: what devices fetch of ``checkpoint``; ``runner`` of its middle;
    ``adapters``: those that belong to it, but for those that were ``left_out``.
    """

    checkpoint: Checkpoint
    catalog: Catalog
    manifest: Manifest
    adapters: Mapping[str, AdapterFile]
    left_out: Sequence[AdapterUnusable]
    backbone: Backbone
    runner: ModelRunner
    planner: MemoryPlanner


def load_model(config: ServerConfig, opened: Opened | None = None) -> ServedModel:
    """The model of ``config`` after its first passes; ``opened``: where that was done already.

    Raises the errors of ``split_server.errors``.
    """
    opened = opened or open_all(config)
    checkpoint = opened.checkpoint
    planner, need = plan_memory(config, checkpoint, texts=config.compat)
    check_weights(checkpoint.name, need, planner.limit)
    if planner.room().own:
        give_back_large_blocks()
    backbone, runner = on_passing_thread(lambda: _middle(checkpoint, config, planner))
    if config.quantize == "auto":
        _log.info("%s", recommendation(checkpoint, backbone, planner.room().free))
    return ServedModel(
        checkpoint=checkpoint,
        catalog=opened.catalog,
        manifest=opened.manifest,
        adapters=opened.adapters,
        left_out=opened.left_out,
        backbone=backbone,
        runner=runner,
        planner=planner,
    )


def _middle(
    checkpoint: Checkpoint, config: ServerConfig, planner: MemoryPlanner
) -> tuple[Backbone, ModelRunner]:
    backbone = load_backbone(
        checkpoint,
        config.dtype,
        config.device,
        linears=config.linears,
        quantize=config.quantize,
        threads=config.threads,
    )
    measured = MeasuredPasses(planner, peak_meter(backbone.device))
    runner = ModelRunner(backbone, config.threads, measured, _forward(backbone))
    _try_out(runner, backbone.info.name)
    return backbone, runner


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
