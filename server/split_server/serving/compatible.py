"""Composition of the OpenAI and Kobold APIs: the ends beside the engine, and their generations."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from split_client.errors import ClientError, ModelInUse
from split_client.weights.store import ModelStore
from split_server.compat.ends import LocalEnds
from split_server.compat.generator import Generator, GeneratorLimits
from split_server.compat.grammars.grammars import Grammars
from split_server.compat.grammars.process import Words
from split_server.compat.kept.public import PublicPrompts
from split_server.compat.kept.warm_file import NothingToWarm, read_warm_file
from split_server.compat.openai.service import OpenAIService
from split_server.compat.parts import Compat
from split_server.compat.text_process import TextProcess
from split_server.compat.texts import Texts
from split_server.serving.config import ServerConfig
from split_server.serving.model import ServedModel
from split_server.sessions.in_process import InProcessSessions
from split_server.sessions.step import StepAdmission
from split_wire.errors import SplitError

# To copy and verify the ends of a large model.
WAIT_SECONDS = 120.0
_PAUSE_SECONDS = 0.2
_log = logging.getLogger(__name__)


def open_local_ends(
    model: ServedModel,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> LocalEnds | None:
    """The ends for the compatible APIs; None where this machine cannot keep them, which is told.

    Split inference does not need them. Another process that copies the same ones into the cache
    folder is waited for.
    """
    deadline, told = clock() + WAIT_SECONDS, False
    while True:
        try:
            return LocalEnds.open(model.catalog, model.manifest, ModelStore())
        except ModelInUse as error:
            if clock() >= deadline:
                _tell_without(error)
                return None
            if not told:
                _log.warning("waiting up to %g s: %s", WAIT_SECONDS, error)
            told = True
            pause(_PAUSE_SECONDS)
        except (ClientError, SplitError) as error:
            _tell_without(error)
            return None


def _tell_without(error: ClientError | SplitError) -> None:
    _log.error(
        "the OpenAI and Kobold APIs are off: %s [%s]; --no-compat leaves them out",
        error,
        error.code,
    )


def make_compat(
    config: ServerConfig, model: ServedModel, local: LocalEnds, steps: StepAdmission
) -> Compat:
    """Generations with ``local`` ends over sessions in this process."""
    # Generations that run at the same time must not take each other's session.
    most = min(config.max_sessions, config.max_sessions_per_principal)
    limits = GeneratorLimits()
    running = min(limits.running, most)
    spare = min(limits.spare, config.max_sessions - running)
    seconds, tokens = config.request_seconds, config.max_tokens_ceiling
    limits = replace(limits, running=running, spare=spare, seconds=seconds, tokens=tokens)
    limits = replace(limits, drafts=config.text_drafts == "auto", blend=config.blend)
    texts = Texts(local.ends, TextProcess(local.tokenizer))
    generator = Generator(local.ends, InProcessSessions(steps), limits)
    ends = local.ends
    manifest = ends.manifest
    words = Words(ends.tokenizer.to_json(), manifest.vocab_size, manifest.eos_token_ids)
    return Compat(model.checkpoint, local, generator, texts, Grammars(words), model.middle.kernels)


def make_warm(path: Path, compat: Compat | None, steps: StepAdmission) -> PublicPrompts:
    """What computes the prompts in the file at ``path``. Raises WarmFileInvalid, NothingToWarm."""
    if compat is None:
        raise NothingToWarm("the OpenAI and Kobold APIs, which tokenize them, are off")
    if steps.reuse is None:
        raise NothingToWarm("this server keeps no keys and values; see --kv-reuse, --kv-pool-bytes")
    service = OpenAIService(compat)
    return PublicPrompts(service, read_warm_file(path, service.served))
