"""What the rows share: the model's folder, its table and tokenizer, the clean replies."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import AutoTokenizer

from scripts.real.chats import Chat, chats
from scripts.real.models.served import Clients, Said, server, template_ids

REPLY = 64
# The token that ends a reply of the model.
END = 2
_TABLE = "model.embed_tokens.weight"


@dataclass
class Setting:
    """``seed``: of everything that is drawn. ``cache``: where clients keep the model's ends."""

    folder: Path
    seed: int
    cache: Path
    _said: dict[str, list[Said]] = field(default_factory=dict)

    @cached_property
    def table(self) -> torch.Tensor:
        """Embedding and LM head, which are tied: float32 [vocabulary, H]."""
        return load_file(self.folder / "model.safetensors")[_TABLE].float()

    @cached_property
    def tokenizer(self) -> Any:
        """As transformers reads it."""
        return AutoTokenizer.from_pretrained(self.folder)

    def rows(self, ids: Sequence[int]) -> torch.Tensor:
        """Embeddings [n, H]."""
        return self.table[list(ids)]

    def ids(self, chat: Chat) -> list[int]:
        """The prompt of a chat."""
        return template_ids(self.tokenizer, chat)

    def text(self, ids: Sequence[int]) -> str:
        """The text of ``ids`` without control tokens."""
        text: str = self.tokenizer.decode(list(ids), skip_special_tokens=True)
        return text

    def replies(self, dtype: str = "float32") -> list[Said]:
        """The greedy replies to the sixty chats, through clients and a server that computes in
        ``dtype``; made once.
        """
        if dtype not in self._said:
            self._said[dtype] = self.replied(chats(), dtype, REPLY)
        return self._said[dtype]

    def replied(self, asked: Sequence[Chat], dtype: str, most: int) -> list[Said]:
        """Greedy replies of at most ``most`` tokens."""
        prompts = [(self.ids(chat), chat) for chat in asked]
        with ExitStack() as stack:
            url = stack.enter_context(server(self.folder, dtype))
            clients = Clients(url, self.cache)
            stack.callback(clients.close)
            return clients.replies(prompts, most, counter(f"replies in {dtype}", len(asked)))


@contextmanager
def setting(folder: Path, seed: int) -> Iterator[Setting]:
    """A setting with a cache folder of its own."""
    with tempfile.TemporaryDirectory(prefix="gatelink-real-") as cache:
        yield Setting(folder, seed, Path(cache))


def say(text: str) -> None:
    """A line of progress."""
    print(f"  {text}", file=sys.stderr, flush=True)


def counter(what: str, whole: int, lines: int = 4) -> Callable[[int], None]:
    """Tells of ``what`` some ``lines`` times until ``whole`` are done."""
    every = max(1, whole // lines)

    def tell(done: int) -> None:
        if done % every == 0 or done == whole:
            say(f"{what}: {done} of {whole}")

    return tell


def forget() -> None:
    """Frees models that nobody holds any more, before the next is loaded."""
    gc.collect()


def threads() -> int:
    """Of this machine."""
    return os.cpu_count() or 1
