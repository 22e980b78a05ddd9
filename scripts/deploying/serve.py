"""Ray Serve's file: by Serve's own schema, and without keys that it would pass over."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml  # type: ignore[import-untyped]

from scripts.deploying.part import NotHere, PartFailed
from scripts.paths import ROOT
from split_server.deploy.replica_settings import replica_settings
from split_server.errors import ServerError
from split_settings import SettingsError

FILE = ROOT / "deploy" / "ray.yaml"
DEPLOYMENT = "gatelink"


def check() -> str:
    """Raises PartFailed, NotHere."""
    found = document()
    require_settings(found)
    try:
        ray = importlib.import_module("ray")
        schema = importlib.import_module("ray.serve.schema").ServeDeploySchema
    except ImportError as error:
        raise NotHere("Ray Serve is not installed (pip install 'gatelink[ray]')") from error
    try:
        schema.model_validate(found)
    except ValueError as error:
        raise PartFailed(f"Serve's schema: {error}") from error
    if unknown := list(unknown_keys(found, schema)):
        raise PartFailed(f"Serve does not know {', '.join(unknown)}")
    return f"{FILE.name}, by the schema of Ray Serve {ray.__version__}"


def document() -> dict[str, Any]:
    """The file as it is shipped."""
    found: dict[str, Any] = yaml.safe_load(FILE.read_text())
    return found


def require_settings(found: Mapping[str, Any]) -> None:
    """Raises PartFailed where a replica would refuse its arguments, or may hold more than Ray sets
    aside for it.
    """
    (application,) = found["applications"]
    (deployment,) = application["deployments"]
    try:
        config = replica_settings(application["args"], {})
    except (SettingsError, ServerError) as error:
        raise PartFailed(str(error)) from error
    if config.memory_limit > deployment["ray_actor_options"]["memory"]:
        raise PartFailed("memory_limit is more than the memory of ray_actor_options")
    if deployment["name"] != DEPLOYMENT:
        raise PartFailed(f"the deployment is called {DEPLOYMENT}, not {deployment['name']}")


def unknown_keys(given: object, model: object, path: str = "") -> Iterator[str]:
    """Keys in ``given`` that no field of the pydantic ``model`` has; its free mappings are open."""
    fields = getattr(model, "model_fields", None)
    if isinstance(given, Sequence) and not isinstance(given, str):
        for number, one in enumerate(given):
            yield from unknown_keys(one, model, f"{path}[{number}]")
    elif isinstance(given, Mapping) and fields is not None:
        names = dict(fields)
        names |= {field.alias: field for field in fields.values() if field.alias}
        for key, value in given.items():
            place = f"{path}.{key}" if path else str(key)
            if key not in names:
                yield place
            else:
                yield from unknown_keys(value, _model(names[key].annotation), place)


def _model(annotation: Any) -> object:
    """The pydantic model in ``annotation``: itself, of an Optional or of a list; None without."""
    if hasattr(annotation, "model_fields"):
        return annotation
    inner = [_model(one) for one in getattr(annotation, "__args__", ())]
    return next((one for one in inner if one is not None), None)
