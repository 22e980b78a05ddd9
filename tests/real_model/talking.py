"""Replies of the real client to chats that run together, and one pass of Hugging Face over each."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import torch

from scripts.real.chats import Chat
from split_client.api import SplitClient
from tests import oracle

_TOGETHER = 8


@dataclass(frozen=True)
class Forced:
    """What the whole model says to ``prompt`` and ``reply``, read at once.

    Before each token of the reply: its likeliest ``token`` [n], and the ``margin`` [n] of that
    one's logit over the next best. ``hidden`` [all, H]: final-norm states of every position.
    """

    prompt: list[int]
    reply: list[int]
    tokens: list[int]
    margins: list[float]
    hidden: torch.Tensor

    @property
    def differing(self) -> list[str]:
        """Where the reply is not what greedy decoding gives.

        The first token is the likeliest after the prompt; each further one is so after a prefix
        that is equal already. So no difference means that ``generate`` gives the same.
        """
        return [
            f"token {place}: {ours} and not {theirs}, whose logit is larger by {margin:.1e}"
            + (" (float32 sums in another order decide this)" if margin < 1e-3 else "")
            for place, (ours, theirs, margin) in enumerate(
                zip(self.reply, self.tokens, self.margins, strict=True)
            )
            if ours != theirs
        ]


def replies(url: str, cache: Path, asked: list[Chat], count: int) -> Iterator[list[int]]:
    """Greedy token ids for each of the chats in turn, at most ``count``; several are made at a
    time, each by a client of its own."""
    own, opened, turn = threading.local(), ExitStack(), threading.Lock()

    def reply(chat: Chat) -> list[int]:
        if not hasattr(own, "client"):
            # Each starts a process; they would wait for one another's.
            with turn:
                own.client = opened.enter_context(SplitClient(url, cache=cache))
        made = own.client.chat(chat, temperature=0, max_tokens=count)
        made.read()
        return list(made.token_ids)

    with opened, ThreadPoolExecutor(_TOGETHER) as pool:
        yield from pool.map(reply, asked)


def templated(path: Path, chat: Chat) -> list[int]:
    """Hugging Face's own ids of a chat."""
    render = oracle.tokenizer(path).apply_chat_template
    return list(render(chat, add_generation_prompt=True, return_dict=False))


def forced(path: Path, chat: Chat, reply: list[int]) -> Forced:
    """One pass of Hugging Face over the chat and its reply."""
    prompt, model = templated(path, chat), oracle.model(path)
    with torch.inference_mode():
        ids = torch.tensor([prompt + reply[:-1]])
        hidden = model.model(ids, use_cache=False).last_hidden_state[0]
        best = model.lm_head(hidden[len(prompt) - 1 :]).topk(2)
    margins = (best.values[:, 0] - best.values[:, 1]).tolist()
    return Forced(prompt, reply, best.indices[:, 0].tolist(), margins, hidden)
