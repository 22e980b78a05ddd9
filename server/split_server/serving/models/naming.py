"""The models that are served, by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from split_server.errors import ServerError
from split_server.serving.config import ServerConfig
from split_server.serving.settings.given_models import is_named, named_configs


@dataclass(frozen=True, slots=True)
class NamedModel:
    """``config``: the settings with which this one model is loaded; ``named``: whether the name was
    given, and not made of where the model lies.
    """

    name: str
    config: ServerConfig
    named: bool = False


def models_of(config: ServerConfig) -> tuple[NamedModel, ...]:
    """The models of ``config``; the first one is that at the root, whose are the page and the
    prompts that are kept for everybody. Raises BadValue.
    """
    (name, first), *others = named_configs(config)
    named = is_named(config)
    beside = (
        NamedModel(name, replace(one, web_root="none", kv_warm=None, adapter_host=False), named)
        for name, one in others
    )
    return (NamedModel(name, first, named), *beside)


@contextmanager
def opening(name: str, *, several: bool) -> Iterator[None]:
    """Have what is wrong with one of ``several`` models say which one it is."""
    try:
        yield
    except ServerError as error:
        if several:
            error.args = (f"model {name!r}: {error}",)
        raise
