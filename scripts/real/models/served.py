"""Replies through real device clients and a real server, several at once."""

from __future__ import annotations

import queue
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripts.listening import listening
from scripts.real.chats import Chat
from split_client import NoiseSettings, SplitClient

# The server runs their steps in shared passes.
_CLIENTS = 8


@dataclass(frozen=True, slots=True)
class Said:
    """``reply``: the ids of a greedy reply to ``prompt``; ``ended``: by the model itself."""

    prompt: list[int]
    reply: list[int]
    text: str
    ended: bool


@contextmanager
def server(folder: Path, dtype: str, *flags: str) -> Iterator[str]:
    """The URL of a server of ``folder`` that computes in ``dtype``."""
    with listening("serve", "--model", str(folder), "--dtype", dtype, *flags) as (url, _):
        yield url


class Clients:
    """Clients of one server that share a cache folder."""

    def __init__(self, url: str, cache: Path) -> None:
        self._opened = ExitStack()
        self._idle: queue.SimpleQueue[SplitClient] = queue.SimpleQueue()
        for _ in range(_CLIENTS):
            self._idle.put(self._opened.enter_context(SplitClient(url, cache=cache)))

    def replies(
        self,
        prompts: Sequence[tuple[list[int], Chat]],
        most: int,
        done: Callable[[int], object] = lambda _: None,
    ) -> list[Said]:
        """The greedy reply to every chat, given with its ids; ``done`` gets their number so far."""

        def reply(prompt: tuple[list[int], Chat]) -> Said:
            ids, chat = prompt
            client = self._idle.get()
            try:
                return _said(client, ids, chat, most)
            finally:
                self._idle.put(client)

        with ThreadPoolExecutor(_CLIENTS) as pool:
            said = []
            for one in pool.map(reply, prompts):
                said.append(one)
                done(len(said))
        return said

    def close(self) -> None:
        """End them."""
        self._opened.close()


def _said(client: SplitClient, ids: list[int], chat: Chat, most: int) -> Said:
    reply = client.chat(chat, temperature=0.0, max_tokens=most)
    text = reply.read()
    if reply.stats.prompt_tokens != len(ids):
        raise SystemExit("client and transformers make different prompts of one chat")
    return Said(ids, reply.token_ids, text, reply.finish_reason == "eos")


@contextmanager
def noised(url: str, cache: Path, sigma: float) -> Iterator[SplitClient]:
    """A client whose rows have noise of ``sigma``, with a ledger of its own."""
    with tempfile.TemporaryDirectory() as folder:
        settings = NoiseSettings(sigma=sigma, ledger=Path(folder) / "ledger.json", key=bytes(32))
        with SplitClient(url, cache=cache, noise=settings) as client:
            yield client


def request(text: str) -> Chat:
    """A chat of one message."""
    return [{"role": "user", "content": text}]


def template_ids(tokenizer: Any, chat: Chat) -> list[int]:
    """The prompt of ``chat`` by transformers."""
    made = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_dict=True)
    ids: list[int] = list(made["input_ids"])
    return ids
