"""``split-client models``: what the server serves, and what is stored on this device."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from split_client.api import ServedModel
from split_client.config.connection import ConnectionConfig
from split_client.errors import ClientError
from split_client.terminal.connect import licence
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import size
from split_client.terminal.pair import paired_token
from split_client.terminal.switching.listed import Listed, listed, model_line
from split_client.transport.endpoint import Endpoint
from split_client.transport.served.listing import fetch_served
from split_client.weights.download import WeightsSource
from split_client.weights.manifest import Manifest
from split_client.weights.pull import fetch_manifest
from split_client.weights.store import ModelStore, StoredModel

# Seconds; a list need not wait as long as a chat.
_CONNECT = 3.0
_INDENT = 2


@dataclass(frozen=True, slots=True)
class _Served:
    """The ``manifest`` of the model that is served where one is asked for, or why it is not known;
    ``models``: all of the server's, empty where it lists none.
    """

    manifest: Manifest | None
    models: tuple[Listed, ...] = ()
    error: ClientError | None = None


def run_models(config: ConnectionConfig, screen: Screen, *, as_json: bool) -> None:
    """Print both. A server that does not answer is told and no error.

    Raises UrlInvalid, ModelNameInvalid, KnownServersDamaged, StoreFailed.
    """
    endpoint = Endpoint.parse(config.url).of_model(config.model)
    store = ModelStore(config.cache)
    stored = store.list()
    served = _asked(endpoint, config, stored)
    if as_json:
        screen.line(json.dumps(_document(endpoint, served, stored)))
        return
    screen.paragraph(f"served at {endpoint.url}", role="heading")
    _show_served(served, stored, screen)
    screen.paragraph(f"stored in {store.root}", role="heading")
    for model in stored:
        state = "" if model.complete else f", partly pulled: {size(model.bytes_on_disk)}"
        screen.paragraph(f"  {_line(model.manifest)}{state}", 2 * _INDENT)
    if not stored:
        screen.paragraph("  none yet; split-client chat or pull fetches the one that is served")


def _asked(endpoint: Endpoint, config: ConnectionConfig, stored: list[StoredModel]) -> _Served:
    try:
        token = config.token or paired_token(config.url)
        models = fetch_served(endpoint, token, _CONNECT) or ()
        found = listed(models, stored, lambda model: _manifest(endpoint, model, token))
        chosen = next((one for one in found if _is_chosen(one.model, endpoint)), None)
        if chosen is not None:
            return _Served(chosen.manifest, found)
        # A server without a list, or without that name, says so itself.
        return _Served(_fetched(endpoint, token), found)
    except ClientError as error:
        return _Served(None, error=error)


def _is_chosen(model: ServedModel, endpoint: Endpoint) -> bool:
    return model.first if endpoint.model is None else model.name == endpoint.model


def _manifest(endpoint: Endpoint, model: ServedModel, token: str | None) -> Manifest | None:
    try:
        return _fetched(endpoint.of_model(model.name), token)
    # It may have been let go meanwhile; the list is as true without.
    except ClientError:
        return None


def _fetched(endpoint: Endpoint, token: str | None) -> Manifest:
    source = WeightsSource(endpoint, token, _CONNECT)
    try:
        return fetch_manifest(source)[0]
    finally:
        source.close()


def _show_served(served: _Served, stored: list[StoredModel], screen: Screen) -> None:
    several = len(served.models) > 1
    for one in served.models if several else ():
        screen.paragraph(f"  {model_line(one)}", 2 * _INDENT)
    if served.error is not None:
        screen.paragraph(f"  not known: {one_line(str(served.error), 300)}", _INDENT)
    if several or served.manifest is None:
        return
    here = any(m.complete and m.manifest.digest == served.manifest.digest for m in stored)
    state = "stored here" if here else "not stored here yet"
    screen.paragraph(f"  {_line(served.manifest)}, {state}", 2 * _INDENT)


def _line(manifest: Manifest) -> str:
    name, family = one_line(manifest.name), one_line(manifest.family)
    return (
        f"{name} ({family}, {size(manifest.size)}, licence {licence(manifest)}, "
        f"{manifest.digest[:12]})"
    )


def _document(endpoint: Endpoint, served: _Served, stored: list[StoredModel]) -> dict[str, Any]:
    error = served.error
    return {
        "url": endpoint.url,
        "served": None if served.manifest is None else _facts(served.manifest),
        "models": [one.as_dict() for one in served.models] or None,
        "error": None if error is None else {"code": error.code, "message": str(error)},
        "stored": [
            _facts(model.manifest)
            | {"bytes_on_disk": model.bytes_on_disk, "complete": model.complete}
            for model in stored
        ],
    }


def _facts(manifest: Manifest) -> dict[str, Any]:
    return {
        "name": manifest.name,
        "family": manifest.family,
        "digest": manifest.digest,
        "bytes": manifest.size,
        "licence": manifest.licence,
    }
