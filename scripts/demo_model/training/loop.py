"""Trains the demo model: Muon on the hidden matrices, AdamW on embedding, norms and biases.

Muon: Jordan et al. 2024, orthogonalised momentum. Schedule: warm-up, constant, linear decay over
the last third. Noise on the input embeddings while training makes unseen wording safer
(Jain et al. 2023, NEFTune, here Gaussian).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from scripts.demo_model.corpus.examples import Example

EAGER_WIDTH = 256
Log = Callable[[str], None]


@dataclass(frozen=True)
class TrainConfig:
    """Budget and rates; ``tokens`` counts corpus tokens, each seen once."""

    seed: int = 7
    tokens: int = 9_400_000
    batch_tokens: int = 4096
    muon_lr: float = 0.02
    adam_lr: float = 4e-3
    weight_decay: float = 0.05
    warmup: int = 50
    noise: float = 0.1
    threads: int = 2
    max_steps: int | None = None


def make_deterministic(config: TrainConfig) -> None:
    """One seed, fixed thread count, deterministic kernels."""
    torch.set_num_threads(config.threads)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.manual_seed(config.seed)


def _optimizers(model: nn.Module, config: TrainConfig) -> list[torch.optim.Optimizer]:
    matrices = [p for n, p in model.named_parameters() if p.ndim == 2 and "embed" not in n]
    others = [p for n, p in model.named_parameters() if p.ndim != 2 or "embed" in n]
    return [
        torch.optim.Muon(
            matrices, lr=config.muon_lr, momentum=0.95, weight_decay=config.weight_decay
        ),
        torch.optim.AdamW(others, lr=config.adam_lr, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def _factor(step: int, steps: int, warmup: int) -> float:
    """Learning-rate factor at ``step`` of ``steps``."""
    rise = min(1.0, (step + 1) / warmup)
    return rise * min(1.0, (steps - step) / (steps / 3))


def collate(batch: list[Example]) -> tuple[torch.Tensor, torch.Tensor]:
    """ids [b, n] padded with 0 on the right, weights [b, n] padded with 0."""
    width = max(len(example.ids) for example in batch)
    ids = np.zeros((len(batch), width), np.int64)
    weights = np.zeros((len(batch), width), np.float32)
    for row, example in enumerate(batch):
        ids[row, : len(example.ids)] = example.ids
        weights[row, : len(example.ids)] = example.weights
    return torch.from_numpy(ids), torch.from_numpy(weights)


def _choose_attention(model: Any, width: int) -> None:
    """Plain matrix products beat the CPU flash kernel on short rows, not on long ones."""
    kind = "eager" if width <= EAGER_WIDTH else "sdpa"
    if model.config._attn_implementation != kind:
        model.set_attn_implementation(kind)


def batch_loss(model: Any, batch: list[Example], noise: float) -> torch.Tensor:
    """Weighted cross-entropy per unit of weight.

    Padding stands on the right and attention is causal, so no mask is needed.
    """
    ids, weights = collate(batch)
    _choose_attention(model, ids.shape[1])
    table = model.model.embed_tokens.weight
    rows = nn.functional.embedding(ids, table)
    if noise:
        scale = noise * table.detach().norm(dim=1).mean() / table.shape[1] ** 0.5
        strength = torch.rand(len(batch), 1, 1)
        rows = rows + torch.randn(rows.shape) * scale * strength
    with torch.autocast("cpu", torch.bfloat16):
        hidden = model.model(inputs_embeds=rows, use_cache=False).last_hidden_state
        used = weights[:, 1:] > 0
        logits = hidden[:, :-1][used] @ table.T
    losses = nn.functional.cross_entropy(logits.float(), ids[:, 1:][used], reduction="none")
    chosen = weights[:, 1:][used]
    return (losses * chosen).sum() / chosen.sum()


def train(model: Any, groups: list[list[Example]], config: TrainConfig, log: Log) -> None:
    """Run through ``groups`` once; leaves the model in evaluation mode."""
    steps = min(len(groups), config.max_steps or len(groups))
    optimizers = _optimizers(model, config)
    rates = [group["lr"] for optimizer in optimizers for group in optimizer.param_groups]
    model.train()
    begin, smooth = time.monotonic(), 0.0
    for step, batch in enumerate(groups[:steps]):
        factor = _factor(step, steps, config.warmup)
        for optimizer, rate in zip(optimizers, rates, strict=True):
            optimizer.param_groups[0]["lr"] = rate * factor
        loss = batch_loss(model, batch, config.noise)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        smooth = loss.item() if not step else 0.95 * smooth + 0.05 * loss.item()
        if step % 50 == 0 or step + 1 == steps:
            log(f"step {step + 1}/{steps} loss {smooth:.4f} {time.monotonic() - begin:.0f} s")
    model.eval()
