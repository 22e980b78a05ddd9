"""An adapter of random numbers, small enough to leave most tokens alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

NAME = "made"


def made_adapter(folder: Path, hidden: int, rank: int) -> Path:
    """A folder with that one adapter."""
    draw = np.random.default_rng(0)
    target = folder / NAME
    target.mkdir(parents=True, exist_ok=True)
    a = (draw.normal(size=(rank, hidden)) / hidden**0.5).astype(np.float32)
    b = (0.1 * draw.normal(size=(hidden, rank)) / rank**0.5).astype(np.float32)
    save_file({"A": a, "B": b}, str(target / "adapter.safetensors"))
    about = {
        "name": NAME,
        "description": "Random numbers.",
        "placement": "final_hidden_state",
        "rank": rank,
        "hidden_size": hidden,
        "scale": 1.0,
        "dtype": "float32",
        "license": "CC0-1.0",
        "keywords": [],
    }
    (target / "adapter.json").write_text(json.dumps(about))
    return folder
