"""What of a chat travels is the same in the web app as in Python, on texts nobody would write."""

from __future__ import annotations

import random
from typing import Any

from split_client.chat.context.travelling import travelling
from split_client.chat.context.units import units_of
from split_client.chat.message import Message
from split_client.chat.reading import message_in
from tests.exhaustive import EXHAUSTIVE
from tests.web.generation_peers import ask

_PIECES = (
    *"ab A.Z!?…。！」)\"'”»|>#-* \n\t\r0 1 9",
    *("\n", "\n\n", ". ", ".\n", "A\n.", "Dr", "vs", "e.g", "```", "~~~", "- ", "1. ", "# ", "| "),
    *("😀", "👩‍👩‍👧", "ß", "Ä", "ö", "\x1c", "\x85", "\ufeff", "\u3000", "日本。"),
)
_TEXTS, _LONGEST = (20_000 if EXHAUSTIVE else 2_000), 40


def _text(rng: random.Random) -> str:
    return "".join(rng.choices(_PIECES, k=rng.randrange(_LONGEST)))


def _ranges(rng: random.Random, length: int) -> list[list[int]]:
    """Some of the text, or all of it."""
    if rng.random() < 0.3:
        return [[0, length]] if length else []
    marks = sorted(rng.sample(range(length + 1), k=min(length + 1, 2 * rng.randrange(4)) // 2 * 2))
    return [list(pair) for pair in zip(marks[::2], marks[1::2], strict=True)]


def _chat(rng: random.Random) -> list[dict[str, Any]]:
    roles = ["system"] * rng.randrange(2)
    roles += rng.choices(("user", "assistant"), k=rng.randrange(1, 7))
    chat: list[dict[str, Any]] = []
    for role in roles:
        content = _text(rng)
        chat.append({"role": role, "content": content})
        if rng.random() < 0.6 and (dropped := _ranges(rng, len(content))):
            chat[-1]["dropped"] = dropped
    return chat


def _read(chat: list[dict[str, Any]]) -> list[Message]:
    read = [message_in(each) for each in chat]
    return [each for each in read if isinstance(each, Message)]


def _refused(given: Any, text: str) -> bool:
    return isinstance(message_in({"role": "user", "content": text, "dropped": given}), str)


_HOSTILE: list[tuple[Any, str]] = [
    ([[0, 3], [2, 4]], "abcdef"),
    ([[0, 3], [3, 4]], "abcdef"),
    ([[2, 3], [0, 1]], "abcdef"),
    ([[0, 7]], "abcdef"),
    ([[-1, 2]], "abcdef"),
    ([[2, 2]], "abcdef"),
    ([[0, 2**60]], "abcdef"),
    ([[0, 1e300]], "abcdef"),
    ([[0.5, 2]], "abcdef"),
    ([[True, 2]], "abcdef"),
    ([["0", "2"]], "abcdef"),
    ([[0, 1, 2]], "abcdef"),
    ([0, 1], "abcdef"),
    ({"0": [0, 1]}, "abcdef"),
    ("01", "abcdef"),
    ([[2 * at, 2 * at + 1] for at in range(10_001)], "a" * 30_000),
    ([[0, 2]], "😀"),
    ([[0, 1]], "😀"),
    ([[1, 2]], "😀a"),
    ([[0, 6]], "abcdef"),
    ([], "abcdef"),
    (None, "abcdef"),
]


def test_units_what_travels_and_what_is_refused_are_pythons() -> None:
    rng = random.Random(24)  # noqa: S311 - texts, not a secret
    texts = [_text(rng) for _ in range(_TEXTS)]
    chats = [_chat(rng) for _ in range(_TEXTS // 4)]
    ranges = [[given, text] for given, text in _HOSTILE]
    answer = ask("chats/context.js", {"texts": texts, "chats": chats, "ranges": ranges})
    for text, found in zip(texts, answer["units"], strict=True):
        units = units_of(Message("user", text))
        assert found == [[unit.start, unit.stop, unit.kind] for unit in units], repr(text)
    for chat, sent in zip(chats, answer["sent"], strict=True):
        assert sent == [each.as_dict() for each in travelling(_read(chat))], chat
    for (given, text), taken in zip(_HOSTILE, answer["ranges"], strict=True):
        assert (taken is None) == _refused(given, text), (given, text[:20])
