"""From settings to the parts of a server: nothing listens and nothing is started yet."""

from __future__ import annotations

import logging
from dataclasses import replace

from split_client.errors import ClientError
from split_client.weights.store import ModelStore
from split_server.adapter_host.errors import HostUnusable
from split_server.adapter_host.host import AdapterHost
from split_server.adapter_host.limits import HostLimits
from split_server.checkpoint.catalog import LEGACY_EMBEDDING
from split_server.checkpoint.texts import TOKENIZER
from split_server.compat.ends import LocalEnds
from split_server.compat.generator import Generator, GeneratorLimits
from split_server.compat.parts import Compat
from split_server.compat.texts import Texts
from split_server.engine.engine import Engine
from split_server.engine.model.delta import Delta
from split_server.http.original.protocol import OriginalProtocol
from split_server.http.web.files import open_web_files
from split_server.memory.allocator import share_one_heap
from split_server.memory.measured import MeasuredRoom
from split_server.memory.report import memory_report
from split_server.original.ends import encoder, half_rows
from split_server.original.experts.apply import Experts
from split_server.original.experts.input_noise import InputNoise
from split_server.original.sessions import OriginalSessions
from split_server.serving.adapter_host.startup import ACTIVATION_RMS, make_host
from split_server.serving.config import ServerConfig
from split_server.serving.model import ServedModel, load_model
from split_server.serving.parts import Parts
from split_server.serving.plan import open_room
from split_server.sessions.framed import FramedSessions
from split_server.sessions.in_process import InProcessSessions
from split_server.sessions.step import StepAdmission
from split_server.sessions.store import SessionStore, StoreLimits
from split_wire.errors import SplitError

_log = logging.getLogger(__name__)


def load_parts(config: ServerConfig) -> Parts:
    """Open, hash and load the model of ``config``, and what serves it.

    Raises the errors of ``split_server.errors``.
    """
    share_one_heap()
    web = open_web_files(config.web_root)
    model = load_model(config)
    local = _local_ends(model) if config.compat else None
    # What is left once the model, its first passes and its ends have taken theirs.
    room = open_room(config, model.planner)
    steps = _steps(config, model, room)
    return Parts(
        catalog=model.catalog,
        manifest=model.manifest,
        steps=steps,
        framed=FramedSessions(steps),
        original=_original(config, model, steps),
        memory=lambda: memory_report(room),
        compat=None if local is None else _compat(config, model, local, steps),
        adapters=model.adapters,
        adapter_host=_adapter_host(config, model),
        web=web,
    )


def _steps(config: ServerConfig, model: ServedModel, room: MeasuredRoom) -> StepAdmission:
    limits = StoreLimits(
        max_sessions=config.max_sessions,
        max_sessions_per_principal=config.max_sessions_per_principal,
        ttl=config.session_ttl,
    )
    device = model.backbone.device
    return StepAdmission(
        Engine(model.runner, model.backbone.info, stretch=config.decode_stretch),
        SessionStore(limits, room),
        model.manifest.digest,
        config.max_queued_steps,
        adapters={name: Delta.of(file, device) for name, file in model.adapters.items()},
    )


def _original(config: ServerConfig, model: ServedModel, steps: StepAdmission) -> OriginalProtocol:
    hidden_size = model.backbone.info.hidden_size
    epsilon, clip = config.adapter_noise_epsilon, config.adapter_noise_clip
    noise = InputNoise.for_epsilon(epsilon, clip, hidden_size) if epsilon else None
    return OriginalProtocol(
        OriginalSessions(steps),
        encoder(model.catalog.read(TOKENIZER)),
        half_rows(model.catalog.legacy[LEGACY_EMBEDDING], hidden_size),
        allow_tokenize=config.allow_server_tokenize,
        experts=Experts(model.adapters, encrypt=config.he, noise=noise),
    )


def _adapter_host(config: ServerConfig, model: ServedModel) -> AdapterHost | None:
    if not config.adapter_host:
        return None
    if not model.adapters:
        raise HostUnusable("this model has no adapters; --adapters names a folder of them")
    # The model wants the other cores.
    limits = HostLimits(workers=1)
    budget, state = config.query_budget, config.adapter_state
    return make_host(model.adapters, limits, budget, state, ACTIVATION_RMS)


def _local_ends(model: ServedModel) -> LocalEnds | None:
    """The ends for the compatible APIs; None where this machine cannot keep them, which is told.

    Split inference does not need them.
    """
    try:
        return LocalEnds.open(model.catalog, model.manifest, ModelStore())
    except (ClientError, SplitError) as error:
        _log.warning(
            "the OpenAI and Kobold APIs are off: %s [%s]; --no-compat leaves them out",
            error,
            error.code,
        )
        return None


def _compat(
    config: ServerConfig, model: ServedModel, local: LocalEnds, steps: StepAdmission
) -> Compat:
    # Generations that run at the same time must not take each other's session.
    most = min(config.max_sessions, config.max_sessions_per_principal)
    limits = GeneratorLimits()
    limits = replace(limits, running=min(limits.running, most))
    generator = Generator(local.ends, InProcessSessions(steps), limits)
    return Compat(model.checkpoint, local, generator, Texts(local.ends))
