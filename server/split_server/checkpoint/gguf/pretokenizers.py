"""How a byte-pair vocabulary's text is cut before its merges, by llama.cpp's name of the way.

Those that were compared with the tokenizer.json of a model. Another name is an error: ids that
differ a little from those of training are a fault that nobody sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from split_server.errors import MalformedCheckpoint

Document = dict[str, Any]
_CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_TAIL = r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_LLAMA3 = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}|{_TAIL}"
_QWEN2 = rf"{_CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}|{_TAIL}"


@dataclass(frozen=True, slots=True)
class Way:
    """``parts``: of tokenizer.json's pre_tokenizer; ``whole_words``: a word that is a piece is
    taken as it is, without merges; ``starts``: whether texts begin with the BOS token when the
    file does not say."""

    parts: tuple[Document, ...]
    normalizer: Document | None = None
    whole_words: bool = False
    starts: bool = False


def _bytes(*, splits: bool) -> Document:
    return {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": splits,
    }


def _pattern(regex: str) -> Document:
    return {
        "type": "Split",
        "pattern": {"Regex": regex},
        "behavior": "Isolated",
        "invert": False,
    }


_GPT2 = Way((_bytes(splits=True),))
_DIGITS = Way(({"type": "Digits", "individual_digits": True}, _bytes(splits=True)))
WAYS = {
    "gpt-2": _GPT2,
    "smollm": _DIGITS,
    "starcoder": _DIGITS,
    "qwen2": Way((_pattern(_QWEN2), _bytes(splits=False)), {"type": "NFC"}),
    "llama-bpe": Way((_pattern(_LLAMA3), _bytes(splits=False)), whole_words=True, starts=True),
}


def way_of(name: str) -> Way:
    """The way called ``name``. Raises MalformedCheckpoint, which says which are known."""
    if name not in WAYS:
        raise MalformedCheckpoint(
            f"the file's text is cut by the pre-tokenizer {name!r}, which nobody has compared with "
            f"its model's tokenizer.json; known are {', '.join(sorted(WAYS))}"
        )
    return WAYS[name]
