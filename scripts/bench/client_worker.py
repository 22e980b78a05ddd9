"""A device client as a worker process: ``python -m scripts.bench.client_worker URL CACHE``.

Requests: ``prepare`` (ids of a prompt), ``generate`` (greedy continuation with timings), ``turns``
(one turn of a chat after another, each also from nothing), ``chat`` (a reply and where its time
went), ``memory``.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from scripts.bench.report import median, private_bytes
from scripts.bench.workers import Operations, serve
from split_client.api import ChatSession, Reply, SamplingParams, SplitClient

_GREEDY = SamplingParams(temperature=0.0, seed=0)


class ClientWorker(Operations):
    """Answers the requests with one connected client."""

    def __init__(self, client: SplitClient) -> None:
        self._client = client

    def prepare(self, prompt: str) -> dict[str, Any]:
        """Token ids of a prompt."""
        return {"ids": self._client.ends.tokenizer.encode(prompt, add_special_tokens=True)}

    def generate(self, prompt: str, tokens: int) -> dict[str, Any]:
        """Ids, seconds from the first to the last token, and where the time of each went."""
        reply = self._client.generate(prompt, _GREEDY, max_tokens=tokens)
        frames = [reply.stats.bytes_up + reply.stats.bytes_down for _ in reply.events()]
        later = reply.stats.timings[1:]
        return {
            "ids": reply.token_ids,
            "seconds": sum(timing.total for timing in later),
            "wire_ms": [1e3 * timing.wire for timing in later],
            "queue_ms": [1e3 * timing.queue for timing in later],
            "engine_ms": [1e3 * timing.engine for timing in later],
            "device_ms": [1e3 * timing.device for timing in later],
            "bytes_per_step": (frames[-1] - frames[0]) / len(later),
        }

    def chat(self, prompt: str, tokens: int, bias: list[tuple[int, float]]) -> dict[str, Any]:
        """The reply to one message; seconds after its first token, and of each token (medians)."""
        params = replace(_GREEDY, logit_bias=dict(bias))
        messages = [{"role": "user", "content": prompt}]
        reply = self._client.chat(messages, params, max_tokens=tokens)
        text = reply.read()
        later = reply.stats.timings[1:]
        names = ("engine", "queue", "wire", "device")
        return {
            "text": text,
            "tokens": len(reply.token_ids),
            "seconds": sum(timing.total for timing in later),
            **{name: median([getattr(timing, name) for timing in later]) for name in names},
        }

    def turn(self, text: str, tokens: int) -> dict[str, Any]:
        """One turn of the running chat, then the same prompt over a session with nothing cached."""
        chat = self._chat()
        chat.params, chat.max_tokens = _GREEDY, tokens
        kept = _measured(chat.send(text))
        # Ends the session on the server, so that the next answer sends the whole chat.
        chat.close()
        return {"kept": kept, "fresh": _measured(chat.answer())}

    def new_chat(self) -> dict[str, Any]:
        """Start the running chat anew."""
        self._chat().close()
        del self._running
        return {}

    def memory(self) -> dict[str, Any]:
        """Private memory in bytes."""
        return {"private": private_bytes()}

    def _chat(self) -> ChatSession:
        if not hasattr(self, "_running"):
            self._running = self._client.conversation()
        return self._running


def _measured(reply: Reply) -> dict[str, Any]:
    reply.read()
    return {
        "ttft_ms": 1e3 * reply.stats.ttft,
        "prompt_tokens": reply.stats.prompt_tokens,
        "prompt_sent": reply.stats.prompt_sent,
        "bytes": reply.stats.bytes_up + reply.stats.bytes_down,
        "first": reply.token_ids[0],
    }


if __name__ == "__main__":
    with SplitClient(sys.argv[1], cache=Path(sys.argv[2]), drafts="off") as connected:
        serve(ClientWorker(connected).handle)
