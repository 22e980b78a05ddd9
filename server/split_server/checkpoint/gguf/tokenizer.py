"""tokenizer.json of a GGUF: byte-level BPE, or SentencePiece's BPE with its merges made again."""

from __future__ import annotations

from typing import Any

from split_server.checkpoint.gguf.pretokenizers import way_of
from split_server.checkpoint.gguf.values import Metadata
from split_server.checkpoint.gguf.vocabulary import (
    BYTE,
    CONTROL,
    UNKNOWN,
    USER_DEFINED,
    Vocabulary,
    read_scores,
)
from split_server.errors import MalformedCheckpoint

Document = dict[str, Any]
_SPACE = "\u2581"


def tokenizer_document(metadata: Metadata, vocabulary: Vocabulary) -> Document:
    """What tokenizer.json holds. Raises MalformedCheckpoint."""
    kind = metadata.text("tokenizer.ggml.model")
    if kind == "gpt2":
        document, starts = _byte_level(metadata, vocabulary)
    elif kind == "llama":
        document, starts = _sentence_piece(metadata, vocabulary)
    else:
        raise MalformedCheckpoint(f"a tokenizer of the kind {kind!r} is not read from GGUF")
    starts = metadata.flag("tokenizer.ggml.add_bos_token", default=starts)
    ends = metadata.flag("tokenizer.ggml.add_eos_token", default=False)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _added(vocabulary),
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": _framed(vocabulary, starts=starts, ends=ends),
        **document,
    }


def _byte_level(metadata: Metadata, vocabulary: Vocabulary) -> tuple[Document, bool]:
    way = way_of(metadata.text("tokenizer.ggml.pre", "unnamed"))
    merges = [_pair(merge, vocabulary) for merge in metadata.texts("tokenizer.ggml.merges")]
    document = {
        "normalizer": way.normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": list(way.parts)},
        "decoder": {
            "type": "ByteLevel",
            "add_prefix_space": True,
            "trim_offsets": True,
            "use_regex": True,
        },
        "model": _bpe(vocabulary, merges) | {"ignore_merges": way.whole_words},
    }
    return document, way.starts


def _pair(merge: str, vocabulary: Vocabulary) -> tuple[str, str]:
    """The two pieces of a merge, which a space joins; a piece itself has none (GPT-2's bytes)."""
    left, space, right = merge.partition(" ")
    known = vocabulary.ids
    if not space or left not in known or right not in known or left + right not in known:
        raise MalformedCheckpoint("a merge of the tokenizer is not of pieces of its vocabulary")
    return left, right


def _sentence_piece(metadata: Metadata, vocabulary: Vocabulary) -> tuple[Document, bool]:
    prefixed = metadata.flag("tokenizer.ggml.add_space_prefix", default=True)
    merges = _merges(vocabulary, read_scores(metadata, len(vocabulary.pieces)))
    spaces: Document = {"type": "Replace", "pattern": {"String": " "}, "content": _SPACE}
    steps: list[Document] = [{"type": "Prepend", "prepend": _SPACE}] if prefixed else []
    read_back: list[Document] = [
        {"type": "Replace", "pattern": {"String": _SPACE}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if prefixed:
        read_back.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    unknown = vocabulary.named("unk") or _first(vocabulary, UNKNOWN)
    model = {"unk_token": unknown, "fuse_unk": True, "byte_fallback": BYTE in vocabulary.kinds}
    document = {
        "normalizer": {"type": "Sequence", "normalizers": [*steps, spaces]},
        "decoder": {"type": "Sequence", "decoders": read_back},
        "model": _bpe(vocabulary, merges) | model,
    }
    return document, True


def _merges(vocabulary: Vocabulary, scores: list[float]) -> list[tuple[str, str]]:
    """SentencePiece joins the neighbours whose union has the best score: each way to cut a piece
    into two others is a merge of that piece's rank."""
    ids = vocabulary.ids
    ranked = []
    skipped = {CONTROL, UNKNOWN, BYTE, USER_DEFINED}
    for piece, kind, score in zip(vocabulary.pieces, vocabulary.kinds, scores, strict=True):
        if kind in skipped:
            continue
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in ids and right in ids:
                ranked.append((-score, ids[piece], ids[left], ids[right], left, right))
    ranked.sort(key=lambda merge: merge[:4])
    return [merge[4:] for merge in ranked]


def _bpe(vocabulary: Vocabulary, merges: list[tuple[str, str]]) -> Document:
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": vocabulary.ids,
        "merges": [list(merge) for merge in merges],
    }


def _added(vocabulary: Vocabulary) -> list[Document]:
    """Pieces that are found in a text before it is cut; control tokens are left out of replies."""
    kinds = {CONTROL: True, UNKNOWN: True, USER_DEFINED: False}
    return [
        {
            "id": number,
            "content": piece,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": kinds[kind],
        }
        for number, (piece, kind) in enumerate(
            zip(vocabulary.pieces, vocabulary.kinds, strict=True)
        )
        if kind in kinds and piece
    ]


def _framed(vocabulary: Vocabulary, *, starts: bool, ends: bool) -> Document | None:
    """The post-processor that puts BOS before a text and EOS behind it."""
    first = vocabulary.named("bos") if starts else None
    last = vocabulary.named("eos") if ends else None
    used = [piece for piece in (first, last) if piece is not None]
    if not used:
        return None

    def pieces(*texts: str) -> list[Document]:
        found: list[Document] = []
        for place, text in enumerate(texts):
            around = ([first] if first else [], [last] if last else [])
            found += [{"SpecialToken": {"id": one, "type_id": place}} for one in around[0]]
            found.append({"Sequence": {"id": text, "type_id": place}})
            found += [{"SpecialToken": {"id": one, "type_id": place}} for one in around[1]]
        return found

    return {
        "type": "TemplateProcessing",
        "single": pieces("A"),
        "pair": pieces("A", "B"),
        "special_tokens": {
            piece: {"id": piece, "ids": [vocabulary.ids[piece]], "tokens": [piece]}
            for piece in dict.fromkeys(used)
        },
    }


def _first(vocabulary: Vocabulary, kind: int) -> str | None:
    numbers = (n for n, found in enumerate(vocabulary.kinds) if found == kind)
    number = next(numbers, None)
    return None if number is None else vocabulary.pieces[number]
