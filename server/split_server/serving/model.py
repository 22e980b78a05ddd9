"""A served model: opened, hashed, checked against the memory there is, and loaded."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.errors import AdapterUnusable
from split_server.adapters.served import served_adapters
from split_server.checkpoint.catalog import Catalog, build_catalog
from split_server.checkpoint.folder import Checkpoint, open_checkpoint
from split_server.checkpoint.manifest import Manifest, build_manifest
from split_server.engine.model.loader import Backbone, load_backbone
from split_server.engine.model.runner import ModelRunner
from split_server.engine.model.threads import on_passing_thread
from split_server.errors import UnusableModel
from split_server.memory.allocator import give_back_large_blocks
from split_server.memory.passes import MeasuredPasses
from split_server.memory.planner import MemoryPlanner
from split_server.memory.usage import peak_meter
from split_server.memory.weights import check_weights
from split_server.serving.config import ServerConfig
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


def load_model(config: ServerConfig) -> ServedModel:
    """The model of ``config`` after its first passes.

    Raises the errors of ``split_server.errors``.
    """
    checkpoint = open_checkpoint(config.model)
    catalog = build_catalog(checkpoint)
    manifest = build_manifest(checkpoint, catalog)
    hidden_size, left_out = manifest.document["hidden_size"], list[AdapterUnusable]()
    adapters = served_adapters(config.adapters, checkpoint, hidden_size, left_out.append)
    for unusable in left_out:
        _log.error("left out: %s", unusable)
    planner, need = plan_memory(config, checkpoint, texts=config.compat)
    check_weights(checkpoint.name, need, planner.limit)
    if planner.room().own:
        give_back_large_blocks()
    backbone, runner = on_passing_thread(lambda: _middle(checkpoint, config, planner))
    return ServedModel(
        checkpoint=checkpoint,
        catalog=catalog,
        manifest=manifest,
        adapters=adapters,
        left_out=left_out,
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
    runner = ModelRunner(backbone, config.threads, measured)
    _try_out(runner, backbone.info.name)
    return backbone, runner


def _try_out(runner: ModelRunner, name: str) -> None:
    """Fail here rather than at the first user's first step."""
    try:
        runner.warm_up()
    except (SplitError, RuntimeError, MemoryError) as error:
        raise UnusableModel(name, str(error)) from error
