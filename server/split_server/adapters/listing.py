"""The document that tells devices which adapters there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from split_server.adapters.adapter_file import AdapterFile

PATH = "/api/v1/adapters"


def listing(adapters: Mapping[str, AdapterFile], he: bool) -> dict[str, Any]:
    """The answer to ``GET /api/v1/adapters``.

    ``he``: whether they are evaluated on ciphertexts under the device's key, else in the clear.
    """
    return {"adapters": [_entry(adapter, he) for adapter in adapters.values()]}


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
