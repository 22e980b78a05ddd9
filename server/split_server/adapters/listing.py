"""The document that tells devices which adapters there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.errors import AdapterUnusable

PATH = "/api/v1/adapters"


def listing(
    adapters: Mapping[str, AdapterFile], he: bool, left_out: Sequence[AdapterUnusable] = ()
) -> dict[str, Any]:
    """The answer to ``GET /api/v1/adapters``.

    ``he``: whether they are evaluated on ciphertexts under the device's key, else in the clear.
    ``left_out``: folders that hold no adapter for the model, named only where there are some.
    """
    document: dict[str, Any] = {"adapters": [_entry(one, he) for one in adapters.values()]}
    if left_out:
        document["left_out"] = [{"folder": one.folder, "reason": one.reason} for one in left_out]
    return document


def _entry(adapter: AdapterFile, he: bool) -> dict[str, Any]:
    return {
        "name": adapter.name,
        "description": adapter.description,
        "rank": adapter.rank,
        "hidden_size": adapter.hidden_size,
        "scale": adapter.scale,
        "keywords": list(adapter.keywords),
        "license": adapter.license,
        "encrypted": he,
    }
