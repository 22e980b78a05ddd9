"""The interface of every kind of client: ask for a reply and yield its pieces as they come."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from scripts.bench.clients.prompts import Prompt

# Of one wait; far beyond what counts as a stall.
SILENCE_SECONDS = 60.0


class ReplyFailed(Exception):
    """``code``: the server's name for the cause; None where nothing names it."""

    def __init__(self, code: str | None, reason: str) -> None:
        self.code = code
        super().__init__(reason)


class Speaker(Protocol):
    """One client. Leaving :meth:`reply` before its end breaks the connection without a word."""

    def reply(self, prompt: Prompt, max_tokens: int) -> AsyncGenerator[str, None]:
        """Texts of the greedy reply, a token each or about that. Raises ReplyFailed."""

    async def close(self) -> None:
        """End in order."""
