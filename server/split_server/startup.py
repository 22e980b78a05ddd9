"""From settings to a service: checkpoint, manifest, model, session store."""

from __future__ import annotations

import psutil
import torch

from split_server.app import Parts
from split_server.checkpoint.catalog import LEGACY_EMBEDDING, build_catalog
from split_server.checkpoint.folder import open_checkpoint
from split_server.checkpoint.manifest import build_manifest
from split_server.checkpoint.texts import TOKENIZER
from split_server.config import ServerConfig
from split_server.engine.engine import Engine
from split_server.engine.loader import load_backbone
from split_server.engine.runner import ModelRunner
from split_server.errors import UnusableModel
from split_server.http.original import OriginalProtocol
from split_server.http.original_ends import encoder, half_rows
from split_server.kv.store import SessionStore, StoreLimits
from split_server.service import SplitService
from split_wire.errors import SplitError

_CACHE_SHARE = 0.5


def load_parts(config: ServerConfig) -> Parts:
    """Open, hash and load the model; nothing is started yet.

    Raises the errors of ``split_server.errors``.
    """
    checkpoint = open_checkpoint(config.model)
    catalog = build_catalog(checkpoint)
    manifest = build_manifest(checkpoint, catalog)
    backbone = load_backbone(checkpoint, config.dtype, config.device)
    info = backbone.info
    store = SessionStore(_limits(config, backbone.device), info.kv_bytes_per_position)
    runner = ModelRunner(backbone, config.threads)
    _try_out(runner, info.name)
    engine = Engine(runner, info)
    service = SplitService(engine, store, manifest.digest, config.max_queued_steps)
    original = OriginalProtocol(
        service,
        encoder(catalog.read(TOKENIZER)),
        half_rows(catalog.legacy[LEGACY_EMBEDDING], info.hidden_size),
        allow_tokenize=config.allow_server_tokenize,
    )
    return Parts(catalog, manifest, service, original)


def _try_out(runner: ModelRunner, name: str) -> None:
    """Fail here rather than at the first user's first step."""
    try:
        runner.warm_up()
    except (SplitError, RuntimeError, MemoryError) as error:
        raise UnusableModel(name, str(error)) from error


def _limits(config: ServerConfig, device: torch.device) -> StoreLimits:
    total = config.cache_bytes or round(_CACHE_SHARE * _free_bytes(device))
    return StoreLimits(
        max_sessions=config.max_sessions,
        max_sessions_per_principal=config.max_sessions_per_principal,
        max_bytes=total,
        max_bytes_per_principal=config.cache_bytes_per_principal or total,
        ttl=config.session_ttl,
    )


def _free_bytes(device: torch.device) -> int:
    """Free memory where the cache will lie."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    return int(psutil.virtual_memory().available)
