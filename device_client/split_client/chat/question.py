"""Where the last question begins in a prompt's tokens."""

from __future__ import annotations

from collections.abc import Callable


def question_in(decode: Callable[[list[int]], str], text: str) -> Callable[[list[int]], int]:
    """Tells of a prompt that ends with the message ``text``, and with what the template puts behind
    it, how many tokens come before the message; 0 where it is not found.
    """
    wanted = text.strip()

    def begins(tokens: list[int]) -> int:
        # What is found from some token on is found from all before it.
        low, high = 0, len(tokens)
        while low < high:
            middle = (low + high + 1) // 2
            if wanted in decode(tokens[middle:]):
                low = middle
            else:
                high = middle - 1
        return low

    return begins
