"""How full the context of a chat is, by message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from split_client.chat.context.travelling import placed
from split_client.chat.message import Message


@dataclass(frozen=True, slots=True)
class Fill:
    """Tokens: ``messages`` of the text of each that travels, ``total`` of all that is sent, what
    the template adds included, and the ``budget``.
    """

    messages: tuple[int, ...]
    total: int
    budget: int

    @property
    def template(self) -> int:
        """What stands between the messages, and tools that the model is told of."""
        return max(0, self.total - sum(self.messages))

    @property
    def share(self) -> float:
        """Of the budget."""
        return self.total / self.budget


class TokenCounter:
    """Counts by the model's own tokenizer; a text that was counted lately is not counted again."""

    def __init__(self, encode: Callable[[str], list[int]]) -> None:
        self.of = lru_cache(maxsize=4096)(lambda text: len(encode(text)))

    def each(self, chat: Sequence[Message]) -> tuple[int, ...]:
        """Of the text of each message that travels; 0 for one that does not."""
        counts = [0] * len(chat)
        for index, message in placed(chat):
            counts[index] = self.of(message.content) if message.content else 0
        return tuple(counts)
