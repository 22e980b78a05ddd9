"""The model of the vectors: small, of short binary fractions, exact in every language.

Its state after some tokens remembers the last three of them. Most tokens have one other that
usually follows, so that a greedy reply is a known sentence.
"""

from __future__ import annotations

from typing import Any, Final

END, TURN, MARK = range(3)
SPECIAL: Final = ("<|end|>", "<|turn|>", "<|mark|>")
# Characters of two, three and four bytes are split over tokens; 23 is part of no character.
BYTES: Final[list[bytes]] = [
    *(b"", b"", b""),
    *(b"The", b" caf", b"\xc3", b"\xa9", b" cost", b"s", b" 3", b" \xe2\x82", b"\xac", b" or"),
    *(b" \xf0\x9f", b"\x98", b"\x80", b".", b"\n\nUs", b"er", b":"),
    *(b"a", b"b", b"ab", b"\xff"),
]
VOCABULARY: Final = len(BYTES)
# Hidden state = the row of the last token + 1/2 of that before it + 1/4 of the one before that.
MEMORY: Final = (1.0, 0.5, 0.25)
_FOLLOWS: Final = {
    **{token: token + 1 for token in range(3, 19)},
    **{19: END, END: 3, TURN: 20, 20: 21, 21: 22, 22: 20, 23: 6},
}
# After MARK alone these are equally likely, and nothing is likelier.
_TIED: Final = (12, 20)


def head() -> list[list[float]]:
    """Rows of the LM head [vocabulary][hidden]; the embedding of a token is its unit vector."""
    return [[_entry(row, token) for token in range(VOCABULARY)] for row in range(VOCABULARY)]


def _entry(row: int, token: int) -> float:
    if token == MARK:
        return 4.0 if row in _TIED else 0.0
    noise = ((7 * token + 13 * row + 5 * token * row) % 17 - 8) / 8
    return noise + 6.0 if _FOLLOWS[token] == row else noise


def logits(tokens: list[int]) -> list[float]:
    """Logits after ``tokens``; exact in float32 whatever the order of summation."""
    recent = list(zip(reversed(tokens), MEMORY, strict=False))
    return [sum(part * _entry(row, token) for token, part in recent) for row in range(VOCABULARY)]


def tokenizer() -> dict[str, Any]:
    """A tokenizer.json of byte-level BPE without merges."""
    names = [*SPECIAL, *map(_name, BYTES[len(SPECIAL) :])]
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": token, "content": content, **special, "special": True}
            for token, content in enumerate(SPECIAL)
        ],
        "normalizer": None,
        "pre_tokenizer": {**level, "use_regex": False},
        "post_processor": None,
        "decoder": {**level, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {name: token for token, name in enumerate(names)},
            "merges": [],
        },
    }


def _name(data: bytes) -> str:
    """``data`` in GPT-2's alphabet: bytes that do not print are written from U+0100 on."""
    printed = [b for b in range(256) if 0x20 < b < 0x7F or (b > 0xA0 and b != 0xAD)]
    others = [b for b in range(256) if b not in printed]
    return "".join(chr(b) if b in printed else chr(0x100 + others.index(b)) for b in data)
