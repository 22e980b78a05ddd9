"""A device client whose tokens carry the time.

``python -m scripts.bench.fairness.client URL CACHE``

Requests: ``compose`` (a text whose prompt has a given length), ``chat`` (a reply over a session of
its own), ``prefill`` (the first token after the composed text, over a session of its own).
SIGUSR1 ends a reply after its next token. Times are of the monotonic clock, which all processes of
a machine share.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from typing import Any

from scripts.bench.workers import Operations, serve
from split_client.api import Reply, SamplingParams, SplitClient
from split_client.generation.loop import TokenEvent

_GREEDY = SamplingParams(temperature=0.0, seed=0)
# Greedy, and yet a random model does not say one token for ever: a reply that can go wrong.
_VARIED = SamplingParams(temperature=0.0, seed=0, repetition_penalty=1.5)
_WORDS = ("the ", "server ", "keeps ", "one ", "cache ", "and ", "device ", "sends ", "what ")


class FairnessClient(Operations):
    """Answers the requests with one connected client."""

    def __init__(self, client: SplitClient) -> None:
        self._client = client
        self._text = ""

    def compose(self, tokens: int) -> dict[str, Any]:
        """Make a text of about ``tokens`` tokens, the chat template included."""
        text, count, words = "", 0, 0
        while count < tokens:
            for _ in range(max(1, (tokens - count) // 8)):
                text += _WORDS[words * words % len(_WORDS)]
                words += 1
            count = len(self._prompt_ids(text))
        self._text = text
        return {"tokens": count}

    def chat(self, text: str, tokens: int, varied: bool) -> dict[str, Any]:
        """A reply of at most ``tokens`` tokens: ids, when each came, what each cost."""
        return self._measured(text, tokens, _VARIED if varied else _GREEDY)

    def prefill(self) -> dict[str, Any]:
        """The first token after the composed text."""
        return self._measured(self._text, 1, _GREEDY)

    def _prompt_ids(self, text: str) -> list[int]:
        chat = self._client.conversation()
        chat.conversation.say(text)
        return chat.conversation.prompt().ids

    def _measured(self, text: str, tokens: int, params: SamplingParams) -> dict[str, Any]:
        chat = self._client.conversation()
        chat.params, chat.max_tokens = params, tokens
        reply = chat.send(text)
        stamps = [time.monotonic() for event in reply.events() if isinstance(event, TokenEvent)]
        chat.close()
        return _report(reply, stamps)


def _report(reply: Reply, stamps: list[float]) -> dict[str, Any]:
    timings = reply.stats.timings
    return {
        "ids": reply.token_ids,
        "prompt": reply.stats.prompt_tokens,
        "sent": reply.stats.prompt_sent,
        "begin": stamps[0] - timings[0].total,
        "stamps": stamps,
        "engine_ms": [1e3 * timing.engine for timing in timings],
        "queue_ms": [1e3 * timing.queue for timing in timings],
        "wire_ms": [1e3 * timing.wire for timing in timings],
        "device_ms": [1e3 * timing.device for timing in timings],
    }


if __name__ == "__main__":
    with SplitClient(sys.argv[1], cache=Path(sys.argv[2]), drafts="off") as connected:
        signal.signal(signal.SIGUSR1, lambda *_: connected.cancel())
        serve(FairnessClient(connected).handle)
