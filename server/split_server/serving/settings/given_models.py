"""The models that settings name, each with the settings that are its own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import TypeVar

from split_server.serving.settings.models import ModelConfig, ModelTable, named_text
from split_settings import BadValue

_MOST_MODELS = 32
_EMBEDDED = "embedded"
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 64
# Of a table: what is the model's own; its name is not a setting of the server.
_OWN = tuple(field.name for field in fields(ModelTable) if field.name not in ("name", "model"))
_Config = TypeVar("_Config", bound=ModelConfig)


def named_configs(config: _Config) -> list[tuple[str, _Config]]:
    """The settings of each model by its name, in order. Raises BadValue."""
    found = list(_of_tables(config) if config.models else _of_texts(config))
    where = _where(config)
    if len(found) > _MOST_MODELS:
        raise BadValue(where, f"{len(found)} models are more than {_MOST_MODELS}")
    name, times = Counter(name for name, _ in found).most_common(1)[0]
    if times > 1:
        raise BadValue(where, f"the name {name!r} is given {times} times")
    return found


def is_named(config: ModelConfig) -> bool:
    """Whether the models have names that were given."""
    if config.models or isinstance(config.model, str) or not config.model:
        return bool(config.models)
    return named_text(config.model[0])[0] is not None


def only_model(config: _Config) -> _Config:
    """``config`` of its single model. Raises BadValue where it has several."""
    found = named_configs(config)
    if len(found) > 1:
        names = ", ".join(name for name, _ in found)
        raise BadValue(_where(config), f"one model is meant here; give one of {names} alone")
    return found[0][1]


def _where(config: ModelConfig) -> str:
    return "[[server.models]]" if config.models else "--model"


def _of_texts(config: _Config) -> Iterator[tuple[str, _Config]]:
    if isinstance(config.model, str):
        yield _name_for(config.model), config
        return
    if not config.model:
        yield _EMBEDDED, replace(config, model=None)
        return
    for text in config.model:
        name, model = named_text(text)
        if name is None and len(config.model) > 1:
            raise BadValue("--model", f"{text!r} has no name; of several write each NAME=MODEL")
        yield name or _name_for(model), replace(config, model=model)


def _of_tables(config: _Config) -> Iterator[tuple[str, _Config]]:
    if config.model:
        raise BadValue("[server]", "model and [[server.models]] are both given; leave one out")
    # A command may have fewer settings than a server.
    known = {field.name for field in fields(config)}
    for table in config.models:
        if not table.name or not table.model:
            raise BadValue("[[server.models]]", "a table has no name or no model")
        given = {key: getattr(table, key) for key in _OWN if key in known}
        own = {key: value for key, value in given.items() if value is not None}
        yield table.name, replace(config, model=table.model, models=(), **own)


def _name_for(model: str) -> str:
    """A name made of a path's or hub id's last part."""
    path = Path(model.rstrip("/") or model)
    text = path.stem if path.suffix.lower() == ".gguf" else path.name
    if text in ("", "..") or model in (".", ".."):
        text = path.resolve().name
    return _NO_NAME.sub("-", text).lstrip(".")[:_LONGEST] or "model"
