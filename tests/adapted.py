"""Adapters for tests: the embedded one as an oracle computes with it, and made-up ones on disk."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from split_server.checkpoint.folder import EMBEDDED
from tests import oracle

BANKING = EMBEDDED / "adapters" / "banking"


def banking_tensors() -> tuple[torch.Tensor, torch.Tensor, float]:
    """A [r, H], B [H, r] and the scale."""
    about = json.loads((BANKING / "adapter.json").read_text("utf-8"))
    tensors = load_file(str(BANKING / "adapter.safetensors"))
    return tensors["A"], tensors["B"], float(about["scale"])


@contextmanager
def applied(path: Path, a: torch.Tensor, b: torch.Tensor, scale: float) -> Iterator[None]:
    """Within it the oracle's model of ``path`` has ``h + scale * B A h`` after its final norm."""

    def hook(_module: Any, _inputs: Any, hidden: torch.Tensor) -> torch.Tensor:
        return hidden + scale * ((hidden @ a.T) @ b.T)

    handle = oracle.model(path).model.norm.register_forward_hook(hook)
    oracle.forget()
    try:
        yield
    finally:
        handle.remove()
        oracle.forget()


def banking_greedy(prompt: list[int], count: int) -> list[int]:
    """What the embedded model with its adapter says after ``prompt``."""
    return list(_banking_greedy(tuple(prompt), count))


@cache
def _banking_greedy(prompt: tuple[int, ...], count: int) -> list[int]:
    with applied(EMBEDDED, *banking_tensors()):
        return oracle.greedy(EMBEDDED, list(prompt), count)


def write_adapter(
    folder: Path,
    hidden: int,
    *,
    seed: int = 0,
    rows: int = 4,
    dtype: torch.dtype = torch.float32,
    tensors: dict[str, torch.Tensor] | None = None,
    **fields: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Write a random adapter strong enough to change greedy replies; its A and B as stored.

    ``rows``: its rank. ``fields`` replace those of adapter.json; None leaves one out.
    """
    generator = torch.Generator().manual_seed(seed)
    a = torch.randn(rows, hidden, generator=generator) / hidden**0.5
    b = torch.randn(hidden, rows, generator=generator)
    stored = {"A": a.to(dtype), "B": b.to(dtype)}
    folder.mkdir(parents=True, exist_ok=True)
    save_file(stored if tensors is None else tensors, str(folder / "adapter.safetensors"))
    about: dict[str, Any] = {
        "name": folder.name,
        "description": "made up",
        "placement": "final_hidden_state",
        "rank": rows,
        "hidden_size": hidden,
        "scale": 0.5,
        "keywords": ["loan", "bank account"],
        "license": "Apache-2.0",
    }
    kept = {key: value for key, value in (about | fields).items() if value is not None}
    (folder / "adapter.json").write_text(json.dumps(kept), "utf-8")
    return stored["A"].float(), stored["B"].float()


def reference(hidden: np.ndarray, a: torch.Tensor, b: torch.Tensor, scale: float) -> np.ndarray:
    """``h + scale * B A h`` in float64 for rows [n, H]."""
    wide, first, second = hidden.astype(np.float64), a.double().numpy(), b.double().numpy()
    return wide + scale * (wide @ first.T) @ second.T
