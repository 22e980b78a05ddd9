"""Whether a tokenizer's work is bounded by the length of its texts, so that it may run in here.

Its parts are written by whoever made the model. Replacements can multiply a text, and regular
expressions take any time; the parts that are named here do neither. Others run in a process.
"""

from __future__ import annotations

from typing import Any

from split_client.tokenizer.document import parts_of
from split_client.tokenizer.patterns import KNOWN

_MAX_GROWTH = 4
_MAX_INSERTED = 64
_MAX_TOKEN = 1024
_MAX_SURROUNDING = 16
# Characters of all added tokens: the library looks for them with an automaton.
_MAX_ADDED = 1 << 18
_NORMALIZERS = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Strip", "Nmt"}
_PRE_TOKENIZERS = {
    *("ByteLevel", "Metaspace", "Digits", "Whitespace", "WhitespaceSplit", "Punctuation"),
    "BertPreTokenizer",
}
_DECODERS = {"ByteLevel", "Metaspace", "ByteFallback", "Fuse", "Strip", "WordPiece", "BPEDecoder"}


def is_bounded(document: dict[str, Any]) -> bool:
    """Whether every part of the file is known to take time and memory linear in a text."""
    return (
        _normalizer(document.get("normalizer"))
        and _all(document.get("pre_tokenizer"), "pretokenizers", _cuts)
        and _decoder(document.get("decoder"))
        and _all(document.get("post_processor"), "processors", _surrounds)
        and _model(document.get("model"))
        and _added(document.get("added_tokens"))
    )


def _all(value: Any, key: str, known: Any) -> bool:
    parts = parts_of(value, key)
    return parts is not None and all(known(part) for part in parts)


def _normalizer(value: Any) -> bool:
    parts = parts_of(value, "normalizers")
    return parts is not None and _grow(parts, _NORMALIZERS)


def _decoder(value: Any) -> bool:
    parts = parts_of(value, "decoders")
    return parts is not None and _grow(parts, _DECODERS)


def _grow(parts: list[dict[str, Any]], known: set[str]) -> bool:
    """Whether all ``parts`` together make a text at most ``_MAX_GROWTH`` times as long."""
    growth = 1.0
    for part in parts:
        match part:
            case {"type": "Replace", "pattern": {"String": str(old)}, "content": str(new)} if old:
                growth *= max(len(new.encode()) / len(old.encode()), 1.0)
            case {"type": "Prepend", "prepend": str(start)} if len(start) <= _MAX_INSERTED:
                pass
            case {"type": str(kind)} if kind in known:
                pass
            case _:
                return False
    return growth <= _MAX_GROWTH


def _cuts(part: dict[str, Any]) -> bool:
    match part:
        case {"type": "Split", "pattern": {"Regex": str(pattern)}}:
            return pattern in KNOWN
        case {"type": "Split", "pattern": {"String": str(text)}}:
            return bool(text)
    return part.get("type") in _PRE_TOKENIZERS


def _surrounds(part: dict[str, Any]) -> bool:
    match part:
        case {"type": "ByteLevel"}:
            return True
        case {"type": "TemplateProcessing", "single": list(), "special_tokens": dict()}:
            return surrounding(part) is not None
        case {"type": "RobertaProcessing" | "BertProcessing"}:
            return True
    return False


def surrounding(part: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Ids that a TemplateProcessing puts before and after a text; None where it does more."""
    around: tuple[list[int], list[int]] = ([], [])
    texts = 0
    if len(part["single"]) > _MAX_SURROUNDING:
        return None
    for item in part["single"]:
        match item:
            case {"Sequence": {"id": "A"}}:
                texts += 1
            case {"SpecialToken": {"id": str(name)}}:
                token = part["special_tokens"].get(name)
                ids = token.get("ids") if isinstance(token, dict) else None
                if not isinstance(ids, list) or not all(type(index) is int for index in ids):
                    return None
                around[min(texts, 1)].extend(ids)
            case _:
                return None
    if texts != 1 or sum(map(len, around)) > _MAX_SURROUNDING:
        return None
    return tuple(around[0]), tuple(around[1])


def _model(model: Any) -> bool:
    match model:
        case {"type": "BPE" | "WordLevel", "vocab": dict(vocabulary)}:
            tokens = list(vocabulary)
        case {
            "type": "WordPiece",
            "vocab": dict(vocabulary),
            "max_input_chars_per_word": int(most),
        }:
            tokens = list(vocabulary)
            if most > _MAX_TOKEN:
                return False
        case {"vocab": dict(vocabulary), "merges": list()}:
            # Files from before the library named its models.
            tokens = list(vocabulary)
        case _:
            return False
    return all(len(token) <= _MAX_TOKEN for token in tokens)


def _added(tokens: Any) -> bool:
    if tokens is None:
        return True
    if not isinstance(tokens, list) or not all(isinstance(token, dict) for token in tokens):
        return False
    lengths = [len(str(token.get("content"))) for token in tokens]
    return max(lengths, default=0) <= _MAX_TOKEN and sum(lengths) <= _MAX_ADDED
