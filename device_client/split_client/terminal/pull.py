"""``split-client pull``: fetch, verify, list and remove weights."""

from __future__ import annotations

import time

from split_client.config.connection import ConnectionConfig
from split_client.terminal.connect import announce, licence, show_waiting
from split_client.terminal.input.token import with_token
from split_client.terminal.output.progress import ProgressBar
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import size
from split_client.terminal.pair import own_token
from split_client.transport.endpoint import Endpoint
from split_client.transport.served.loading import when_loaded
from split_client.weights.download import WeightsSource
from split_client.weights.pull import fetch_manifest, pull
from split_client.weights.store import ModelStore, StoredModel
from split_client.weights.turn import PATIENCE


def run_pull(config: ConnectionConfig, screen: Screen) -> None:
    """Fetch what is missing of the server's weights and verify the rest."""
    own = own_token(config.token, config.url)
    with_token(own.text, screen, lambda token: _pull(config, token, screen), paired=own.paired)


def run_list(config: ConnectionConfig, screen: Screen) -> None:
    """One line per stored model."""
    store = ModelStore(config.cache)
    models = store.list()
    for model in models:
        manifest = model.manifest
        state = "" if model.complete else f"  (partly pulled, of {size(manifest.size)})"
        screen.line(
            f"{manifest.digest[:12]}  {size(model.bytes_on_disk):>9}  "
            f"{one_line(manifest.name)}  {licence(manifest)}{state}"
        )
    if not models:
        screen.note(f"no models in {store.root}")


def run_remove(config: ConnectionConfig, name: str, screen: Screen) -> None:
    """Delete one stored model. Raises ModelUnknown, ModelInUse."""
    store = ModelStore(config.cache)
    model = store.resolve(name)
    store.remove(model)
    screen.note(f"removed {_name(model)}, {size(model.bytes_on_disk)} freed")


def _pull(config: ConnectionConfig, token: str | None, screen: Screen) -> None:
    source = WeightsSource(Endpoint.parse(config.url).of_model(config.model), token)
    bar = ProgressBar(screen)
    try:
        manifest, data = when_loaded(
            lambda: fetch_manifest(source),
            lambda notice: show_waiting(notice, screen),
            time.sleep,
        )
        announce(manifest, screen)
        store = ModelStore(config.cache)
        stored = pull(
            source,
            store,
            manifest,
            data,
            packed=source.packed,
            progress=bar.update,
            patience=PATIENCE,
        )
    finally:
        bar.close()
        source.close()
    screen.note(f"{_name(stored)} is complete and verified in {stored.folder}")


def _name(model: StoredModel) -> str:
    return f"{one_line(model.manifest.name)} ({model.manifest.digest[:12]})"
