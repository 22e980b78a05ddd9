"""The vocabulary of a GGUF: pieces, their types and scores, and the special ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from split_server.checkpoint.gguf.values import Metadata
from split_server.errors import MalformedCheckpoint

# https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, tokenizer.ggml.token_type.
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
# Every way to cut a piece of SentencePiece is looked at.
_LONGEST_PIECE = 1024


@dataclass(frozen=True)
class Vocabulary:
    """``pieces``: by id; ``kinds``: their types; ``special``: ids by name such as ``bos``."""

    pieces: list[str]
    kinds: list[int]
    special: dict[str, int]

    @cached_property
    def ids(self) -> dict[str, int]:
        """Id by piece."""
        return {piece: number for number, piece in enumerate(self.pieces)}

    def named(self, name: str) -> str | None:
        """The special piece called ``name``, if there is one."""
        number = self.special.get(name)
        return None if number is None else self.pieces[number]


def read_vocabulary(metadata: Metadata, rows: int) -> Vocabulary:
    """``rows``: of the embedding table. Raises MalformedCheckpoint."""
    pieces = metadata.texts("tokenizer.ggml.tokens")
    if not 0 < len(pieces) <= rows:
        raise MalformedCheckpoint(f"{len(pieces):,} pieces for {rows:,} embedding rows")
    if len(set(pieces)) != len(pieces):
        raise MalformedCheckpoint("the vocabulary has a piece twice")
    if any(len(piece) > _LONGEST_PIECE for piece in pieces):
        raise MalformedCheckpoint(f"a piece is longer than {_LONGEST_PIECE:,} characters")
    kinds = [NORMAL] * len(pieces)
    if "tokenizer.ggml.token_type" in metadata:
        kinds = [int(kind) for kind in metadata.numbers("tokenizer.ggml.token_type")]
    if len(kinds) != len(pieces) or not set(kinds) <= set(range(NORMAL, BYTE + 1)):
        raise MalformedCheckpoint("the types of the vocabulary's pieces do not fit it")
    return Vocabulary(pieces, kinds, _special(metadata, len(pieces)))


def read_scores(metadata: Metadata, count: int) -> list[float]:
    """One finite number a piece. Raises MalformedCheckpoint."""
    scores = [float(score) for score in metadata.numbers("tokenizer.ggml.scores")]
    if len(scores) != count or not all(map(math.isfinite, scores)):
        raise MalformedCheckpoint("the scores of the vocabulary's pieces do not fit it")
    return scores


def _special(metadata: Metadata, count: int) -> dict[str, int]:
    names = {"bos": "bos", "eos": "eos", "unknown": "unk", "padding": "pad"}
    found = {}
    for key, name in names.items():
        if f"tokenizer.ggml.{key}_token_id" in metadata:
            number = metadata.integer(f"tokenizer.ggml.{key}_token_id")
            if number >= count:
                raise MalformedCheckpoint(f"the {name} token {number} is not in the vocabulary")
            found[name] = number
    return found
