"""From settings to the parts of a server: nothing listens and nothing is started yet."""

from __future__ import annotations

import logging
from contextlib import ExitStack

import torch
import transformers

from split_server.adapter_host.errors import HostUnusable
from split_server.adapter_host.host import AdapterHost
from split_server.adapter_host.limits import HostLimits
from split_server.compat.ends import LocalEnds
from split_server.engine.device_turns import DeviceTurns
from split_server.engine.engine import Engine
from split_server.engine.giving_way import giving_way
from split_server.engine.model.delta import Delta
from split_server.http.web.files import WebFiles
from split_server.kv.block_key import Namespaces
from split_server.kv.comparing import bounds_for
from split_server.kv.moving.rotate import KeyRotation
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.keeper import DiskLimits
from split_server.kv_disk.tier import DiskTier
from split_server.memory.allocator import share_one_heap
from split_server.memory.measured import MeasuredRoom
from split_server.memory.report import memory_report
from split_server.memory.shared import SharedMemory
from split_server.pairing.state import StateFolder
from split_server.security.principal import ANONYMOUS
from split_server.serving.adapter_host.startup import ACTIVATION_RMS, make_host
from split_server.serving.compatible import make_compat, make_warm, open_local_ends
from split_server.serving.config import ServerConfig
from split_server.serving.model import ServedModel, load_model
from split_server.serving.opened import Opened, open_all
from split_server.serving.original import make_original
from split_server.serving.parts import Parts
from split_server.serving.settings.given_models import only_model
from split_server.sessions.audit import Audit
from split_server.sessions.cache_groups import CacheGroups
from split_server.sessions.framed import FramedSessions
from split_server.sessions.keeping.approximate import ApproximateAudit
from split_server.sessions.keeping.sharing import Sharing
from split_server.sessions.making_way import StoreLimits
from split_server.sessions.reuse import Reuse
from split_server.sessions.step import StepAdmission
from split_server.sessions.store import SessionStore
from split_wire.messages import DEFAULT_MAX_ROWS
from split_wire.tiers import TIERS, Tier

# A device that is in the middle of a reply comes back sooner: its session stays.
_ACTIVE_SECONDS = 5.0
# Of the runs that are kept: another number never finds them.
_KV_LAYOUT = 1
# Shorter than the silence after which proxies give a request up.
_OPEN_WITHIN_SECONDS = 20.0
_log = logging.getLogger(__name__)


def load_parts(
    config: ServerConfig,
    opened: Opened | None = None,
    shared: SharedMemory | None = None,
    turns: DeviceTurns | None = None,
) -> Parts:
    """Load the model of ``config``, and what serves it; ``opened``: where that was done already;
    ``shared``: the account of all models of the process, where there may be others, and ``turns``
    of the device, to which loading gives way.

    Raises the errors of ``split_server.errors``, BadValue where ``config`` has several models.
    """
    share_one_heap()
    config = only_model(config)
    with giving_way(turns), ExitStack() as undoing:
        opened = opened or open_all(config)
        model = load_model(config, opened, shared)
        local = open_local_ends(model) if config.compat else None
        if local is not None:
            undoing.callback(local.close)
        # What is left once the model, its first passes and its ends have taken theirs.
        room = model.middle.open_room()
        undoing.callback(room.close)
        parts = _parts(config, model, local, room, opened.web, turns)
        # Whoever has the parts ends them.
        undoing.pop_all()
    return parts


def _parts(
    config: ServerConfig,
    model: ServedModel,
    local: LocalEnds | None,
    room: MeasuredRoom,
    web: WebFiles | None,
    turns: DeviceTurns | None,
) -> Parts:
    steps = _steps(config, model, room, turns)
    compat = None if local is None else make_compat(config, model, local, steps)
    disk = None if steps.reuse is None else steps.reuse.disk
    return Parts(
        catalog=model.catalog,
        manifest=model.manifest,
        steps=steps,
        framed=FramedSessions(steps, config.replica),
        original=make_original(config, model, steps),
        memory=lambda: memory_report(room, disk, model.middle.stream),
        weights=model.middle.weights,
        held=lambda: model.middle.weights + room.planner.held() + room.waiting,
        let_go=room.close,
        reserved=lambda: room.budget.in_use / max(1, room.budget.total),
        compat=compat,
        adapters=model.adapters,
        left_out=model.left_out,
        warm=None if config.kv_warm is None else make_warm(config.kv_warm, compat, steps),
        adapter_host=_adapter_host(config, model),
        web=web,
        stream=model.middle.stream,
    )


def _steps(
    config: ServerConfig, model: ServedModel, room: MeasuredRoom, turns: DeviceTurns | None
) -> StepAdmission:
    limits = StoreLimits(
        max_sessions=config.max_sessions,
        max_sessions_per_principal=config.max_sessions_per_principal,
        ttl=config.session_ttl,
        active=_ACTIVE_SECONDS,
    )
    middle, device = model.middle, model.middle.device
    rows, stretch = middle.pass_rows, config.decode_stretch
    return StepAdmission(
        Engine(middle.runner, middle.info, stretch=stretch, pass_rows=rows, turns=turns),
        SessionStore(limits, room),
        model.manifest.digest,
        config.max_queued_steps,
        adapters={name: Delta.of(file, device) for name, file in model.adapters.items()},
        open_within=_OPEN_WITHIN_SECONDS,
        queue_newcomers=config.replica is None,
        max_rows=max(rows, DEFAULT_MAX_ROWS),
        reuse=_reuse(config, model, room),
        groups=CacheGroups(config.kv_groups),
        spans=_hides(config, model),
        rotation=_rotation(config, model, room),
        approximate=ApproximateAudit(config.kv_audit),
        blending=middle.blending,
    )


def _rotation(config: ServerConfig, model: ServedModel, room: MeasuredRoom) -> KeyRotation | None:
    """What moves keys; None where nothing approximate is kept. Raises NoKeyRotation."""
    if config.kv_approximate == "off":
        return None
    if room.runs is None:
        _log.warning("--kv-approximate on: nothing is kept, so nothing is approximate")
        return None
    return model.middle.rotation()


def _tiers(config: ServerConfig) -> tuple[Tier, ...]:
    """Those that are kept here, for whoever asks for them."""
    int8, approximate = config.kv_pool_dtype == "int8", config.kv_approximate == "on"
    return tuple(
        tier for tier, there in zip(TIERS, (True, int8, approximate), strict=True) if there
    )


def _hides(config: ServerConfig, model: ServedModel) -> bool:
    """Whether devices may hide rows of their sessions."""
    if config.kv_approximate == "on" and not model.middle.hides:
        _log.warning("--kv-approximate on: rows cannot be hidden with this engine or device")
    return config.kv_approximate == "on" and model.middle.hides


def _reuse(config: ServerConfig, model: ServedModel, room: MeasuredRoom) -> Reuse | None:
    """What keeps keys and values for later sessions; None where nothing is kept."""
    if room.runs is None:
        if config.kv_disk is not None:
            _log.warning("nothing is written to %s: nothing is kept in memory", config.kv_disk)
        return None
    middle = model.middle
    # Whatever decides which keys and values a row gives.
    identity = (
        model.manifest.digest,
        str(middle.dtype),
        middle.quantized,
        middle.device.type,
        f"layout {_KV_LAYOUT}",
        torch.__version__,
        transformers.__version__,
    )
    bounds = bounds_for(middle.dtype, rounded=middle.quantized != "none")
    disk = _disk(config, room.runs)
    return Reuse(
        room.runs,
        Namespaces("\n".join(identity), None if disk is None else disk.salts),
        frozenset({ANONYMOUS}),
        middle.device,
        public=config.kv_warm is not None,
        audit=Audit(room.runs, config.kv_audit, bounds) if config.kv_audit else None,
        disk=disk,
        sharing=_sharing(config, model, room),
        tiers=_tiers(config),
    )


def _sharing(config: ServerConfig, model: ServedModel, room: MeasuredRoom) -> Sharing | None:
    """What has sessions hold common beginnings once; None where each has its own."""
    if config.kv_share == "off":
        return None
    rule = model.middle.sharing_rule()
    if rule is None:
        _log.warning("--kv-share auto: sharing measures as no gain here, each session has its own")
        return None
    _log.info("sessions share what they begin with: %s", rule)
    return Sharing(room, rule)


def _disk(config: ServerConfig, runs: RunPool) -> DiskTier | None:
    """What outlives the process; None where nothing does. Raises DiskUnusable."""
    if config.kv_disk is None:
        return None
    limits = DiskLimits(config.kv_disk_bytes, config.kv_disk_ttl)
    return DiskTier(config.kv_disk, StateFolder(config.state).path, runs, limits)


def _adapter_host(config: ServerConfig, model: ServedModel) -> AdapterHost | None:
    if not config.adapter_host:
        return None
    if not model.adapters:
        raise HostUnusable("this model has no adapters; --adapters names a folder of them")
    # The model wants the other cores.
    limits = HostLimits(workers=1)
    budget, state = config.query_budget, config.adapter_state
    return make_host(model.adapters, limits, budget, state, ACTIVATION_RMS)
