"""The order of work: tokenizer, corpus, training, checkpoint files."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

from scripts.demo_model.chat import Chat
from scripts.demo_model.corpus.examples import CONTEXT, Encoder, batches, examples, tokenizer_texts
from scripts.demo_model.model import build, save_model
from scripts.demo_model.tokenizer import save_tokenizer, train_tokenizer
from scripts.demo_model.training.adapter import AdapterConfig, save_adapter, train_adapter
from scripts.demo_model.training.loop import Log, TrainConfig, make_deterministic, train

TOKENIZER_CONVERSATIONS = 20_000


def digest(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def train_base(config: TrainConfig, folder: Path, log: Log) -> None:
    """Train the base model from nothing and write its checkpoint to ``folder``."""
    make_deterministic(config)
    wall, cpu = time.monotonic(), time.process_time()
    tokenizer = train_tokenizer(tokenizer_texts(config.seed, TOKENIZER_CONVERSATIONS))
    items = examples(Encoder(tokenizer), config.seed + 1, config.tokens)
    groups = batches(items, config.seed + 2, config.batch_tokens)
    log(f"{len(items)} examples, {sum(len(e.ids) for e in items)} tokens, {len(groups)} steps")
    model = build(tokenizer, config.seed)
    train(model, groups, config, log)
    save_tokenizer(tokenizer, folder, CONTEXT)
    save_model(model, tokenizer, folder)
    log(f"wall {time.monotonic() - wall:.0f} s, CPU {time.process_time() - cpu:.0f} s")
    log(f"model.safetensors sha256 {digest(folder / 'model.safetensors')}")


def train_banking(base: Path, folder: Path, config: TrainConfig, log: Log) -> None:
    """Train the banking adapter on the checkpoint in ``base`` and write it to ``folder``."""
    make_deterministic(config)
    wall, cpu = time.monotonic(), time.process_time()
    adapter = train_adapter(Chat(base), AdapterConfig(), log)
    save_adapter(adapter, folder, digest(base / "model.safetensors"))
    spent = time.monotonic() - wall, time.process_time() - cpu
    log(f"adapter: wall {spent[0]:.0f} s, CPU {spent[1]:.0f} s")
    log(f"adapter.safetensors sha256 {digest(folder / 'adapter.safetensors')}")
