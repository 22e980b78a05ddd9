"""The hub's cache on this machine: names of the models in it, for a shell to complete."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

_PREFIX = "models--"
_MOST = 1000


def cached_models() -> list[str]:
    """Names such as ``Qwen/Qwen2.5-0.5B-Instruct``, at most 1,000; none where there is no cache."""
    from huggingface_hub.constants import HF_HUB_CACHE

    try:
        with os.scandir(Path(HF_HUB_CACHE).expanduser()) as entries:
            names = [entry.name for entry in islice(entries, 10 * _MOST)]
    except OSError:
        return []
    found = sorted(name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX))
    return [name.replace("--", "/") for name in found[:_MOST]]
