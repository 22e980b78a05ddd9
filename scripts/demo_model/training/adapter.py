"""The banking adapter: h + scale * B A h on the final hidden state, before the LM head.

Low-rank form after Hu et al. 2021 (LoRA), applied to an activation instead of a weight. Only A and
B are trained; the final hidden states of the base do not depend on them, so they are computed once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from scripts.demo_model.chat import Chat
from scripts.demo_model.corpus.conversation import Conversation, Sampler, pick_question
from scripts.demo_model.corpus.examples import Encoder, Example
from scripts.demo_model.corpus.facts import Fact, all_facts
from scripts.demo_model.corpus.grammar import normalise, without_article
from scripts.demo_model.corpus.holdout import forbidden
from scripts.demo_model.corpus.surface import vary
from scripts.demo_model.training.loop import Log, collate


@dataclass(frozen=True)
class AdapterConfig:
    """Budget of the adapter's training."""

    seed: int = 21
    rank: int = 16
    scale: float = 1.0
    banking_chats: int = 3000
    general_chats: int = 3000
    steps: int = 700
    batch: int = 1024
    lr: float = 4e-3
    keep_weight: float = 1.0


@dataclass
class Adapter:
    """a: [rank, hidden], b: [hidden, rank], float32."""

    a: torch.Tensor
    b: torch.Tensor
    scale: float

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        """hidden [..., hidden] -> the same shape."""
        return hidden + self.scale * (hidden @ self.a.T) @ self.b.T


def banking_facts() -> list[Fact]:
    """The facts whose full answers the adapter brings out."""
    return [fact for fact in all_facts() if fact.topic == "banking"]


def keywords() -> list[str]:
    """Words that route a question to the adapter."""
    extra = {"bank", "banking", "money", "card", "payment", "account", "savings", "credit", "debit"}
    names = {without_article(name).lower() for fact in banking_facts() for name in fact.names}
    return sorted(names | extra)


def _banking_chat(rng: Random, sampler: Sampler) -> Conversation:
    facts = banking_facts()
    chat = sampler.with_turns(1) if rng.random() < 0.25 else Conversation()
    chat.turns = [t for t in chat.turns if not t[1].startswith("That is a banking question")]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        fact = rng.choice(facts)
        question = vary(pick_question(fact, rng), rng)
        if normalise(question) not in forbidden():
            chat.turns.append((question, fact.answer))
    return chat


def _general_chat(sampler: Sampler) -> Conversation:
    while True:
        chat = sampler.conversation()
        if not any(answer.startswith("That is a banking question") for _, answer in chat.turns):
            return chat


@torch.inference_mode()
def _states(model: Any, items: list[Example], batch: int = 64) -> tuple[torch.Tensor, torch.Tensor]:
    """Final hidden states [n, hidden] that predict assistant tokens, and those tokens [n]."""
    items = sorted(items, key=lambda example: len(example.ids))
    rows, targets = [], []
    for begin in range(0, len(items), batch):
        ids, weights = collate(items[begin : begin + batch])
        hidden = model.model(input_ids=ids, use_cache=False).last_hidden_state[:, :-1]
        used = weights[:, 1:] == 1.0
        rows.append(hidden[used])
        targets.append(ids[:, 1:][used])
    return torch.cat(rows).clone(), torch.cat(targets).clone()


def train_adapter(chat: Chat, config: AdapterConfig, log: Log) -> Adapter:
    """Cross-entropy on expert banking answers, divergence from the base on everything else."""
    torch.use_deterministic_algorithms(True)
    rng = Random(config.seed)
    torch.manual_seed(config.seed)
    sampler = Sampler(rng)
    encoder = Encoder(chat.tokenizer.backend_tokenizer)
    banking = [_banking_chat(rng, sampler) for _ in range(config.banking_chats)]
    general = [_general_chat(sampler) for _ in range(config.general_chats)]
    expert = [encoder.conversation(c) for c in banking if c.turns]
    other = [encoder.conversation(c) for c in general]
    expert_rows, expert_ids = _states(chat.model, expert)
    other_rows, _ = _states(chat.model, other)
    log(f"adapter: {len(expert_rows)} expert and {len(other_rows)} general positions")
    return _fit(
        chat.model.lm_head.weight.detach(), expert_rows, expert_ids, other_rows, config, log
    )


def _fit(
    head: torch.Tensor,
    expert_rows: torch.Tensor,
    expert_ids: torch.Tensor,
    other_rows: torch.Tensor,
    config: AdapterConfig,
    log: Log,
) -> Adapter:
    hidden = head.shape[1]
    a = nn.Parameter(torch.randn(config.rank, hidden) / hidden**0.5)
    b = nn.Parameter(torch.zeros(hidden, config.rank))
    adapter = Adapter(a, b, config.scale)
    optimizer = torch.optim.AdamW([a, b], lr=config.lr, weight_decay=0.0)
    for step in range(config.steps):
        optimizer.param_groups[0]["lr"] = config.lr * (1 - step / config.steps)
        pick = torch.randint(len(expert_rows), (config.batch,))
        keep = other_rows[torch.randint(len(other_rows), (config.batch,))]
        loss = nn.functional.cross_entropy(adapter(expert_rows[pick]) @ head.T, expert_ids[pick])
        before = nn.functional.log_softmax(keep @ head.T, dim=-1)
        after = nn.functional.log_softmax(adapter(keep) @ head.T, dim=-1)
        drift = nn.functional.kl_div(after, before, reduction="batchmean", log_target=True)
        (loss + config.keep_weight * drift).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 500 == 0 or step + 1 == config.steps:
            log(f"adapter step {step + 1} loss {loss.item():.4f} drift {drift.item():.4f}")
    return Adapter(a.detach(), b.detach(), config.scale)


def save_adapter(adapter: Adapter, folder: Path, base_digest: str) -> None:
    """Write ``adapter.safetensors`` and ``adapter.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {"A": adapter.a.contiguous(), "B": adapter.b.contiguous()}
    save_file(tensors, str(folder / "adapter.safetensors"), metadata={"format": "pt"})
    about = {
        "name": "banking",
        "description": "Full answers to banking questions that the base model only refers on.",
        "placement": "final_hidden_state",
        "formula": "h + scale * B A h",
        "rank": adapter.a.shape[0],
        "hidden_size": adapter.a.shape[1],
        "scale": adapter.scale,
        "dtype": "float32",
        "base_model_sha256": base_digest,
        "license": "Apache-2.0",
        "keywords": keywords(),
    }
    (folder / "adapter.json").write_text(json.dumps(about, indent=2) + "\n", "utf-8")


def load_adapter(folder: Path) -> Adapter:
    """Read what ``save_adapter`` wrote."""
    about = json.loads((folder / "adapter.json").read_text("utf-8"))
    tensors = load_file(str(folder / "adapter.safetensors"))
    return Adapter(tensors["A"], tensors["B"], float(about["scale"]))


@contextmanager
def applied(model: Any, adapter: Adapter) -> Iterator[None]:
    """Apply the adapter after the final norm while the block runs."""
    hook = model.model.norm.register_forward_hook(lambda _m, _i, output: adapter(output))
    try:
        yield
    finally:
        hook.remove()
