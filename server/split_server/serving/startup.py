"""From settings to a service: checkpoint, manifest, model, session store."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from split_client.errors import ClientError
from split_client.weights.store import ModelStore
from split_server.adapter_host.errors import HostUnusable
from split_server.adapter_host.host import AdapterHost
from split_server.adapter_host.limits import HostLimits
from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.served import served_adapters
from split_server.checkpoint.catalog import LEGACY_EMBEDDING, Catalog, build_catalog
from split_server.checkpoint.folder import Checkpoint, open_checkpoint
from split_server.checkpoint.manifest import Manifest, build_manifest
from split_server.checkpoint.texts import TOKENIZER
from split_server.compat.ends import LocalEnds
from split_server.compat.generator import Generator, GeneratorLimits
from split_server.compat.parts import Compat
from split_server.compat.texts import Texts
from split_server.engine.engine import Engine
from split_server.engine.model.delta import Delta
from split_server.engine.model.loader import Backbone, load_backbone, resolve_device, resolve_dtype
from split_server.engine.model.runner import ModelRunner
from split_server.engine.model.threads import on_passing_thread
from split_server.errors import UnusableModel
from split_server.http.original.protocol import OriginalProtocol
from split_server.http.web.files import open_web_files
from split_server.kv.buffers import BufferPool
from split_server.memory.allocator import give_back_large_blocks, share_one_heap
from split_server.memory.limit import Room, memory_limit_of
from split_server.memory.plan import MemoryPlan, shape_of
from split_server.memory.planner import MemoryPlanner
from split_server.memory.report import memory_report
from split_server.memory.runner import PlannedRunner
from split_server.memory.store import PlannedStore
from split_server.memory.table import cache_budget, described, summary
from split_server.memory.usage import peak_meter
from split_server.memory.weights import WeightsNeed, check_weights, weights_need
from split_server.original.ends import encoder, half_rows
from split_server.original.experts.apply import Experts
from split_server.original.experts.input_noise import InputNoise
from split_server.serving.adapter_host.startup import ACTIVATION_RMS, make_host
from split_server.serving.app import Parts
from split_server.serving.config import ComputeConfig, ServerConfig
from split_server.sessions.framed import SplitService
from split_server.sessions.store import StoreLimits
from split_wire.errors import SplitError

_log = logging.getLogger(__name__)
# Enough for the buffers of the next session, too little to crowd out the caches in use.
_IDLE_SHARE = 8


def load_parts(config: ServerConfig) -> Parts:
    """Open, hash and load the model; nothing is started yet.

    Raises the errors of ``split_server.errors``.
    """
    share_one_heap()
    web = open_web_files(config.web_root)
    checkpoint = open_checkpoint(config.model)
    catalog = build_catalog(checkpoint)
    manifest = build_manifest(checkpoint, catalog)
    adapters = served_adapters(config.adapters, checkpoint, manifest.document["hidden_size"])
    planner, need = _planner(config, checkpoint)
    check_weights(checkpoint.name, need, planner.limit)
    if planner.room().own:
        give_back_large_blocks()
    backbone, runner = on_passing_thread(lambda: _model(checkpoint, config, planner))
    info = backbone.info
    local = _local_ends(catalog, manifest) if config.compat else None
    # What is left once the model, its first passes and its ends have taken theirs.
    store = _store(config, planner)
    engine = Engine(runner, info, stretch=config.decode_stretch)
    service = SplitService(
        engine,
        store,
        manifest.digest,
        config.max_queued_steps,
        adapters={name: Delta.of(file, backbone.device) for name, file in adapters.items()},
    )
    original = OriginalProtocol(
        service,
        encoder(catalog.read(TOKENIZER)),
        half_rows(catalog.legacy[LEGACY_EMBEDDING], info.hidden_size),
        allow_tokenize=config.allow_server_tokenize,
        experts=Experts(adapters, encrypt=config.he, noise=_noise(config, info.hidden_size)),
    )
    compat = None if local is None else _compat(checkpoint, local, service, config)
    return Parts(
        catalog,
        manifest,
        service,
        original,
        lambda: memory_report(planner, store),
        compat,
        adapters,
        _adapter_host(config, adapters),
        web,
    )


def _adapter_host(config: ServerConfig, adapters: Mapping[str, AdapterFile]) -> AdapterHost | None:
    if not config.adapter_host:
        return None
    if not adapters:
        raise HostUnusable("this model has no adapters; --adapters names a folder of them")
    # The model wants the other cores.
    limits = HostLimits(workers=1)
    return make_host(adapters, limits, config.query_budget, config.adapter_state, ACTIVATION_RMS)


def _local_ends(catalog: Catalog, manifest: Manifest) -> LocalEnds | None:
    """The ends for the compatible APIs; None where this machine cannot keep them, which is told.

    Split inference does not need them.
    """
    try:
        return LocalEnds.open(catalog, manifest, ModelStore())
    except (ClientError, SplitError) as error:
        _log.warning(
            "the OpenAI and Kobold APIs are off: %s [%s]; --no-compat leaves them out",
            error,
            error.code,
        )
        return None


def _compat(
    checkpoint: Checkpoint, local: LocalEnds, service: SplitService, config: ServerConfig
) -> Compat:
    # Generations that run at the same time must not take each other's session.
    most = min(config.max_sessions, config.max_sessions_per_principal)
    limits = GeneratorLimits()
    limits = replace(limits, running=min(limits.running, most))
    generator = Generator(local.ends, service.local, limits)
    return Compat(checkpoint, local, generator, Texts(local.ends))


def _noise(config: ServerConfig, hidden_size: int) -> InputNoise | None:
    epsilon, clip = config.adapter_noise_epsilon, config.adapter_noise_clip
    return InputNoise.for_epsilon(epsilon, clip, hidden_size) if epsilon else None


def _model(
    checkpoint: Checkpoint, config: ServerConfig, planner: MemoryPlanner
) -> tuple[Backbone, ModelRunner]:
    """The loaded model after its first passes."""
    backbone = load_backbone(
        checkpoint,
        config.dtype,
        config.device,
        linears=config.linears,
        quantize=config.quantize,
        threads=config.threads,
    )
    runner = PlannedRunner(backbone, config.threads, planner, peak_meter(backbone.device))
    _try_out(runner, backbone.info.name)
    return backbone, runner


def _try_out(runner: ModelRunner, name: str) -> None:
    """Fail here rather than at the first user's first step."""
    try:
        runner.warm_up()
    except (SplitError, RuntimeError, MemoryError) as error:
        raise UnusableModel(name, str(error)) from error


def described_plan(config: ComputeConfig) -> list[str]:
    """What of the model fits into the memory that is free, without loading it.

    Raises the errors of ``split_server.errors``.
    """
    checkpoint = open_checkpoint(config.model)
    planner, need = _planner(config, checkpoint)
    room = planner.room()
    left = Room(room.free - need.kept, room.source)
    name = f"{checkpoint.name}, {planner.plan.shape.item_bytes} bytes a value"
    return [name, *described(planner.plan, need.kept, planner.reserve, left)]


def _planner(config: ComputeConfig, checkpoint: Checkpoint) -> tuple[MemoryPlanner, WeightsNeed]:
    """The plan of the model within this process's limits, and what its weights need."""
    device = resolve_device(config.device)
    item = resolve_dtype(checkpoint, config.dtype, device).itemsize
    limit = memory_limit_of(device, config.memory_limit)
    plan = MemoryPlan(shape_of(checkpoint.config, item, device.type))
    planner = MemoryPlanner(plan, limit, BufferPool(0))
    return planner, weights_need(checkpoint, item, int8=config.quantize == "int8")


def _store(config: ServerConfig, planner: MemoryPlanner) -> PlannedStore:
    room = planner.room()
    total = config.cache_bytes or cache_budget(planner.plan, room.free - planner.reserve)
    planner.pool.bound(total // _IDLE_SHARE)
    _log.info("memory: %s", summary(planner.plan, total, planner.reserve, room))
    limits = StoreLimits(
        max_sessions=config.max_sessions,
        max_sessions_per_principal=config.max_sessions_per_principal,
        max_bytes=total,
        max_bytes_per_principal=config.cache_bytes_per_principal or total,
        ttl=config.session_ttl,
    )
    return PlannedStore(limits, planner)
