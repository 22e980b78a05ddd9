"""The models that are served, by name."""

from __future__ import annotations

from dataclasses import dataclass, replace

from split_server.serving.config import ServerConfig
from split_server.serving.settings.given_models import named_configs


@dataclass(frozen=True, slots=True)
class NamedModel:
    """``config``: the settings with which this one model is loaded; ``named``: whether its name was
    given rather than made of its folder's.
    """

    name: str
    config: ServerConfig
    named: bool = False


def models_of(config: ServerConfig) -> tuple[NamedModel, ...]:
    """The models of ``config``; the first one is that at the root, whose are the page, the host of
    encrypted adapters and the prompts that are kept for everybody. Raises BadValue.
    """
    (name, first), *others = named_configs(config)
    named = bool(config.models) or first.model != config.path
    return (NamedModel(name, first, named), *(_beside(name, one) for name, one in others))


def _beside(name: str, config: ServerConfig) -> NamedModel:
    own = replace(config, web_root="none", adapter_host=False, kv_warm=None)
    return NamedModel(name, own, named=True)
