"""How full the context of a chat is, by message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from split_client.chat.context.travelling import placed
from split_client.chat.message import Message

# Of a token in English, about.
_CHARACTERS = 4


@dataclass(frozen=True, slots=True)
class Fill:
    """Tokens: ``messages`` of the text of each that travels, ``total`` of all that is sent, what
    the template adds included, and the ``budget``. ``exact``: they are counted; a chat that nothing
    could hold has about as many.
    """

    messages: tuple[int, ...]
    total: int
    budget: int
    exact: bool = True

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
        return _each(chat, self.of)


def about(chat: Sequence[Message]) -> tuple[int, ...]:
    """The same without a tokenizer, which would take minutes for what nothing can hold."""
    return _each(chat, lambda text: -(-len(text) // _CHARACTERS))


def _each(chat: Sequence[Message], of: Callable[[str], int]) -> tuple[int, ...]:
    counts = [0] * len(chat)
    for index, message in placed(chat):
        counts[index] = of(message.content) if message.content else 0
    return tuple(counts)
