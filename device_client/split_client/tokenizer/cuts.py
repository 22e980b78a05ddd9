"""Places where a text may be cut so that the ids of its parts are the ids of the whole.

A cut lies between a letter and a space, a line end or a mark of punctuation after it. It is safe
where no word of the model reaches over it and neither side looks at the other:

- Words are what a known pattern matches (``patterns``), or runs that begin with Metaspace's mark.
  The pattern never looks back, so what follows a cut is matched as it is in the whole text; what
  precedes it is matched before it can look beyond the letter.
- Without such words byte pairs are merged over the whole text. There a cut before a space is safe
  when no token has a letter before a space's mark: whatever is merged is a token.
- No added token has a letter and such a mark beside each other.
- NFC leaves the characters after a cut alone and never joins them to what precedes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from split_client.tokenizer.bounded import surrounding
from split_client.tokenizer.document import parts_of
from split_client.tokenizer.patterns import KNOWN

# Letters in every version of Unicode that a library may know, none of which is part of another.
_LETTERS = "A-Za-zÀ-ÖØ-öø-ÿα-ωА-яぁ-ゖァ-ヺ一-龥가-힣"
_AFTER = " \n,.;:!?()…、。，！？"
_SPACE = " "
_MARK = "▁"
# NFC makes a character of two bytes of at most seven.
_NFC_SHORTENS = 4


@dataclass(frozen=True, slots=True)
class Cuts:
    """``place``: matches, without a width, where a text may be cut; ``before``, ``after``: ids
    that surround a text with special tokens; ``longest``: bytes of text that one id stands for at
    most, None where that is not known.
    """

    place: re.Pattern[str]
    before: tuple[int, ...]
    after: tuple[int, ...]
    longest: int | None

    def pieces(self, text: str, length: int) -> Iterator[str]:
        """``text`` in pieces of at most ``length`` characters, longer ones where no cut is safe."""
        begun = 0
        while len(text) - begun > length:
            end = self._last(text, begun + 1, begun + length)
            if end is None:
                found = self.place.search(text, begun + length)
                end = len(text) if found is None else found.start()
            yield text[begun:end]
            begun = end
        if begun < len(text):
            yield text[begun:]

    def _last(self, text: str, low: int, high: int) -> int | None:
        """The last cut in ``low..high - 1``."""
        reach = 64
        while True:
            start = max(high - reach, low)
            last = None
            for found in self.place.finditer(text, start, high):
                last = found.start()
            if last is not None or start == low:
                return last
            reach *= 8


def cuts_of(document: dict[str, Any]) -> Cuts | None:
    """The cuts of a tokenizer.json, None where none are known to be safe."""
    model, added = document.get("model"), document.get("added_tokens") or []
    if not isinstance(model, dict) or not isinstance(added, list):
        return None
    normalizers = _types(document.get("normalizer"), "normalizers")
    around = _around(document.get("post_processor"))
    if normalizers is None or around is None or not _plain_pairs(model):
        return None
    if any(not isinstance(token, dict) for token in added):
        return None
    if any(token.get("single_word") or token.get("rstrip") for token in added):
        return None
    after = _after(document, model)
    if after is None:
        return None
    left = _not_within(after, [str(token.get("content")) for token in added])
    if not left:
        return None
    longest = _longest(document, model, added)
    return Cuts(_place(left), *around, longest)


def _place(after: str) -> re.Pattern[str]:
    return re.compile(f"(?<=[{_LETTERS}])(?=[{re.escape(after)}])")


def _not_within(after: str, contents: list[str]) -> str:
    """The characters of ``after`` that follow no letter in any of ``contents``."""
    inside = {
        content[found.start()] for content in contents for found in _place(after).finditer(content)
    }
    return "".join(character for character in after if character not in inside)


def _types(value: Any, key: str) -> list[str] | None:
    parts = parts_of(value, key)
    return None if parts is None else [str(part.get("type")) for part in parts]


def _plain_pairs(model: dict[str, Any]) -> bool:
    """Whether the model merges byte pairs, the same ones each time."""
    return (
        model.get("type", "BPE") == "BPE"
        and isinstance(model.get("vocab"), dict)
        and not any(
            model.get(name)
            for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix")
        )
    )


def _around(value: Any) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    parts = parts_of(value, "processors")
    if parts is None:
        return None
    templates = [part for part in parts if part.get("type") != "ByteLevel"]
    if not templates:
        return (), ()
    match templates:
        case [{"type": "TemplateProcessing", "single": list(), "special_tokens": dict()} as one]:
            return surrounding(one)
    return None


def _after(document: dict[str, Any], model: dict[str, Any]) -> str | None:
    """What may follow a cut, by the way that words are made; None where that is not known."""
    normalizers = parts_of(document.get("normalizer"), "normalizers") or []
    cutting = parts_of(document.get("pre_tokenizer"), "pretokenizers")
    if cutting is None:
        return None
    composed = [part.get("type") for part in normalizers] in ([], ["NFC"])
    if composed and _by_pattern(cutting):
        # A space that is put before a text is not put before one that begins with a space.
        prefixed = any(part.get("add_prefix_space") for part in cutting)
        return _SPACE if prefixed else _AFTER
    if composed and [part.get("type") for part in cutting] == ["Metaspace"]:
        own = cutting[0].get("replacement") == _MARK
        split = cutting[0].get("split", True)
        return _SPACE if own and (split or _whole(model)) else None
    return _SPACE if _spaces_marked(normalizers, cutting) and _whole(model) else None


def _by_pattern(cutting: list[dict[str, Any]]) -> bool:
    """Whether a known pattern cuts into words, and nothing else but digits does."""
    known = False
    for index, part in enumerate(cutting):
        match part:
            case {"type": "Digits"}:
                pass
            case {"type": "ByteLevel"} if index == len(cutting) - 1:
                known = known or bool(part.get("use_regex", True))
            case {
                "type": "Split",
                "pattern": {"Regex": str(pattern)},
                "behavior": str(behaviour),
                "invert": bool(invert),
            } if pattern in KNOWN and (behaviour, invert) in (
                ("Isolated", False),
                ("Removed", True),
            ):
                known = True
            case _:
                return False
    return known and bool(cutting) and cutting[-1].get("type") == "ByteLevel"


def _spaces_marked(normalizers: list[dict[str, Any]], cutting: list[dict[str, Any]]) -> bool:
    """Whether spaces become marks and nothing else happens before the model."""
    match normalizers:
        case [{"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]:
            pass
        case _:
            return False
    match cutting:
        case [] | [{"type": "Split", "pattern": {"String": " "}}]:
            return True
    return False


def _whole(model: dict[str, Any]) -> bool:
    """Whether no token reaches over a cut where the model sees the whole text at once."""
    vocabulary = model["vocab"]
    if model.get("ignore_merges") or _MARK not in vocabulary:
        return False
    return re.search(f"[{_LETTERS}>]{_MARK}", "\n".join(vocabulary)) is None


def _longest(
    document: dict[str, Any], model: dict[str, Any], added: list[dict[str, Any]]
) -> int | None:
    """Bytes of a text that one id stands for at most."""
    vocabulary = model["vocab"]
    cutting = parts_of(document.get("pre_tokenizer"), "pretokenizers") or []
    if any(token.get("lstrip") for token in added):
        return None
    if cutting and cutting[-1].get("type") == "ByteLevel":
        if not all(character in vocabulary for character in _byte_alphabet()):
            return None
        longest = max(map(len, vocabulary))
    elif model.get("byte_fallback") and all(f"<0x{byte:02X}>" in vocabulary for byte in range(256)):
        longest = max(len(token.replace(_MARK, " ").encode()) for token in vocabulary)
    else:
        return None
    longest = max(longest, *(len(str(token.get("content")).encode()) for token in added), 1)
    composes = "NFC" in (_types(document.get("normalizer"), "normalizers") or [])
    return longest * (_NFC_SHORTENS if composes else 1)


def _byte_alphabet() -> set[str]:
    """GPT-2's: printable bytes of Latin-1 stand for themselves, others for what follows U+00FF."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0x100)} - {0xAD}
    return {chr(byte) for byte in printable} | {chr(0x100 + n) for n in range(256 - len(printable))}
