"""Where the last question begins in a prompt."""

from __future__ import annotations

import pytest

from split_client.chat.question import question_in


def decode(ids: list[int]) -> str:
    """A token for each character."""
    return "".join(map(chr, ids))


@pytest.mark.parametrize(
    ("prompt", "text", "begins"),
    [
        ("<system>Be kind.<user>Why?<assistant>", "Why?", 22),
        ("<user>Why?<assistant>So.<user>Why?<assistant>", "Why?", 30),
        ("<user>Why?<assistant>", "  Why?\n", 6),
        ("Why?", "Why?", 0),
        ("<user>Something else<assistant>", "Why?", 0),
        ("", "Why?", 0),
    ],
)
def test_it_begins_where_its_text_does(prompt: str, text: str, begins: int) -> None:
    tokens = [ord(character) for character in prompt]
    assert question_in(decode, text)(tokens) == begins
