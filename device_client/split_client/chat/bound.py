"""The longest text that a context can hold, known before anything is made of a chat."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from split_client.errors import ChatTextTooLong, PromptTooLong
from split_client.template.template import MAX_OUTPUT


@dataclass(frozen=True, slots=True)
class TextBound:
    """``context``: positions of the model; ``longest_token``: bytes of text that one of
    its tokens stands for at most, None where that is not known.

    A chat that was saved with another model may be a hundred times longer than a context. Rendering
    and tokenizing it would take seconds and hundreds of megabytes before its tokens are counted.
    """

    context: int
    longest_token: Callable[[], int | None]

    def require(self, characters: int) -> None:
        """Raises PromptTooLong, ChatTextTooLong where a text of that length cannot fit."""
        # A token has one character at least, so the vocabulary need not be looked at.
        if characters <= self.context:
            return
        longest = self.longest_token()
        # A character has one byte at least.
        least = 0 if longest is None else -(-characters // longest)
        if least > self.context:
            raise PromptTooLong(least, self.context, at_least=True)
        # The template would be stopped, which is what its author is blamed for.
        if characters > MAX_OUTPUT:
            raise ChatTextTooLong(characters, MAX_OUTPUT)
