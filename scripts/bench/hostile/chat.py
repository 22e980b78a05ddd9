"""A client whose greedy replies must be those of Hugging Face `generate`, whatever goes on."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from scripts.bench.shapes import EMBEDDED
from scripts.bench.solo import MAX_TOKENS
from scripts.bench.workers import Worker
from split_client.api import SplitClient

_QUESTIONS = (
    "What is split inference?",
    "Tell me a story about a fox.",
    "What does the server see?",
    "What is a KV cache?",
)


@dataclass(slots=True)
class Chatted:
    """``wrong`` as text."""

    replies: int = 0
    tokens: int = 0
    wrong: list[str] = field(default_factory=list)


class Chat:
    """Asks the same questions again and again from ``start`` to ``stop``."""

    def __init__(self, url: str, token: str, cache: Path) -> None:
        self._solo: Worker | None = Worker("scripts.bench.solo", url, str(cache), token)
        self._prompts = _prompts(url, token, cache)
        stock = Worker("scripts.bench.peers.generate", str(EMBEDDED), "float32")
        try:
            self._expected = [
                stock.ask(op="generate", ids=ids, tokens=MAX_TOKENS)["ids"] for ids in self._prompts
            ]
        finally:
            stock.close()
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(1)
        self._chatted: Future[Chatted] | None = None

    def start(self) -> None:
        """Begin to ask."""
        self._chatted = self._pool.submit(self._ask_on)

    def stop(self) -> Chatted:
        """The count of what was heard. Raises what asking raised."""
        self._stop.set()
        assert self._chatted is not None
        return self._chatted.result()

    def close(self) -> None:
        """End the client's process; safe to call twice."""
        self._stop.set()
        self._pool.shutdown()
        if self._solo is not None:
            self._solo.close()
        self._solo = None

    def _ask_on(self) -> Chatted:
        chatted = Chatted()
        assert self._solo is not None
        while not self._stop.is_set():
            number = chatted.replies % len(self._prompts)
            heard = self._solo.ask(ids=self._prompts[number], seed=None)
            chatted.replies += 1
            chatted.tokens += len(heard["ids"])
            if heard["ids"] != self._expected[number]:
                chatted.wrong.append(f"{_QUESTIONS[number]} {heard['text']!r}")
        return chatted


def _prompts(url: str, token: str, cache: Path) -> list[list[int]]:
    prompts = []
    with SplitClient(url, token=token, cache=cache) as client:
        for question in _QUESTIONS:
            chat = client.conversation()
            chat.conversation.say(question)
            prompts.append(chat.conversation.prompt().ids)
    return prompts
