"""Composition of the original protocol: its sessions, its ends, its adapters."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from split_server.checkpoint.catalog import LEGACY_EMBEDDING, Catalog
from split_server.checkpoint.texts import TOKENIZER
from split_server.engine.giving_way import given_way_to
from split_server.http.original.protocol import OriginalProtocol
from split_server.original.ends import encoder, half_rows
from split_server.original.experts.apply import Experts
from split_server.original.experts.input_noise import InputNoise
from split_server.original.sessions import OriginalSessions
from split_server.serving.config import ServerConfig
from split_server.serving.model import ServedModel
from split_server.sessions.step import StepAdmission


def make_original(
    config: ServerConfig, model: ServedModel, steps: StepAdmission
) -> OriginalProtocol:
    """The original protocol over sessions of its own. Raises the errors of its adapters' set-up."""
    hidden_size = model.middle.info.hidden_size
    epsilon, clip = config.adapter_noise_epsilon, config.adapter_noise_clip
    noise = InputNoise.for_epsilon(epsilon, clip, hidden_size) if epsilon else None
    return OriginalProtocol(
        OriginalSessions(steps),
        _encoder(model.catalog),
        half_rows(model.catalog.legacy[LEGACY_EMBEDDING], hidden_size),
        allow_tokenize=config.allow_server_tokenize,
        experts=Experts(model.adapters, encrypt=config.he, noise=noise),
    )


def _encoder(catalog: Catalog) -> Callable[[str], list[int]]:
    """Made at its first use where others compute: to read a vocabulary holds the interpreter's lock
    for a tenth of a second, and few devices speak the original protocol.
    """
    make = cache(lambda: encoder(catalog.read(TOKENIZER)))
    if given_way_to() is None:
        return make()
    return lambda text: make()(text)
