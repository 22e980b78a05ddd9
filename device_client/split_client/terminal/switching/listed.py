"""The models of a server beside what this device has of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from split_client.api import ServedModel
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.words import duration, size
from split_client.weights.manifest import Manifest
from split_client.weights.store import StoredModel

_STATES = {
    "unloaded": "not loaded; whoever asks first waits for it",
    "loading": "being loaded",
    "loaded": "loaded",
    "leaving": "about to leave the server's memory",
}


@dataclass(frozen=True, slots=True)
class Listed:
    """``manifest``: what the device holds or would download, None where that is not known before
    the server loads it; ``stored``: whether it is here, None where nobody knows.
    """

    model: ServedModel
    manifest: Manifest | None
    stored: bool | None

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        model, manifest = self.model, self.manifest
        return {
            "name": model.name,
            "first": model.first,
            "state": model.state,
            "family": model.family or (None if manifest is None else manifest.family),
            "layers": model.layers,
            "context": model.context,
            "dtype": model.dtype or None,
            "server_bytes": model.bytes,
            "unused_seconds": model.seconds,
            "digest": model.manifest,
            "download_bytes": None if manifest is None else manifest.size,
            "stored": self.stored,
        }


def listed(
    models: Sequence[ServedModel],
    stored: Iterable[StoredModel],
    fetch: Callable[[ServedModel], Manifest | None],
) -> tuple[Listed, ...]:
    """All of ``models``. ``fetch``: the manifest of one that is loaded; to ask for one that is not
    would have the server load it.
    """
    here = {one.manifest.digest: one.manifest for one in stored if one.complete}

    def made(model: ServedModel) -> Listed:
        manifest = here.get(model.manifest or "")
        if manifest is None and model.state == "loaded":
            manifest = fetch(model)
        digest = model.manifest if manifest is None else manifest.digest
        return Listed(model, manifest, None if digest is None else digest in here)

    return tuple(map(made, models))


def model_line(one: Listed, *, here: bool = False) -> str:
    """One model on one line; ``here``: the chat is with it."""
    model = one.model
    facts = [_STATES[model.state]]
    if model.state == "loaded" and model.seconds is not None and not model.first:
        facts[0] += f", unused for {duration(model.seconds)}" if model.seconds >= 1 else ", in use"
    if model.first:
        facts.insert(0, "the first")
    if here:
        facts.insert(0, "this chat's")
    family = model.family or ("" if one.manifest is None else one.manifest.family)
    if family:
        facts.append(one_line(family, 40))
    if model.layers:
        facts.append(f"{model.layers} layers")
    if model.bytes:
        facts.append(f"{size(model.bytes)} on the server")
    facts.append(_here(one))
    return f"{one_line(model.name)}: {', '.join(filter(None, facts))}"


def _here(one: Listed) -> str:
    """What the device has, or would have to fetch."""
    if one.stored is None:
        return ""
    if one.manifest is None:
        return "stored here" if one.stored else "not stored here yet"
    return f"{size(one.manifest.size)} {'stored here' if one.stored else 'to download'}"
