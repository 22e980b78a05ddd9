"""A served model: checked against the memory there is, and loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.errors import AdapterUnusable
from split_server.checkpoint.catalog import Catalog
from split_server.checkpoint.folder import Checkpoint
from split_server.checkpoint.manifest import Manifest
from split_server.memory.shared import SharedMemory
from split_server.serving.config import ServerConfig
from split_server.serving.engines.middle import Middle
from split_server.serving.engines.torch_middle import load_torch_middle
from split_server.serving.opened import Opened, open_all


@dataclass(frozen=True, kw_only=True)
class ServedModel:
    """``catalog`` and ``manifest``: what devices fetch of ``checkpoint``; ``middle``: what computes
    the rest of it; ``adapters``: those that belong to it, but for those that were ``left_out``.
    """

    checkpoint: Checkpoint
    catalog: Catalog
    manifest: Manifest
    adapters: Mapping[str, AdapterFile]
    left_out: Sequence[AdapterUnusable]
    middle: Middle


def load_model(
    config: ServerConfig, opened: Opened | None = None, shared: SharedMemory | None = None
) -> ServedModel:
    """The model of ``config`` after its first passes; ``opened``: where that was done already;
    ``shared``: the account of all models of the process, where there may be others.

    Raises the errors of ``split_server.errors``.
    """
    opened = opened or open_all(config)
    return ServedModel(
        checkpoint=opened.checkpoint,
        catalog=opened.catalog,
        manifest=opened.manifest,
        adapters=opened.adapters,
        left_out=opened.left_out,
        middle=_middle(config, opened, shared),
    )


def _middle(config: ServerConfig, opened: Opened, shared: SharedMemory | None) -> Middle:
    if config.engine != "llama":
        digest = str(opened.manifest.document["backbone"]["sha256"])
        return load_torch_middle(config, opened.checkpoint, digest, shared)
    # What it needs is an extra.
    from split_server.serving.engines.llama_middle import load_llama_middle

    return load_llama_middle(config, opened.checkpoint, shared)
