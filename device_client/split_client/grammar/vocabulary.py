"""A model's vocabulary as the grammar library sees it, and the tokens that closing a text needs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Final

import llguidance
import numpy as np
from numpy.typing import NDArray

from split_client.grammar.errors import FormTooCostly, TokenizerUnreadable

_STRUCTURE: Final = frozenset(b'{}[],:"\\')
_ENDS_TEXT: Final = frozenset(b'"\\')

Mask = NDArray[np.bool_]


class Vocabulary:
    """Masks are [rows]: the model's embedding rows, of which the last ones may have no token.

    ``texts``: the bytes of each row, ``sizes`` how many; special tokens and rows without a token
    have none. ``single``: the token of each byte that has one of its own. ``plain``: tokens that
    neither open, close nor separate anything; ``inside``: those that leave a string's inside one.
    """

    def __init__(self, tokenizer_json: str, rows: int, eos: frozenset[int]) -> None:
        """``tokenizer_json``: the text of tokenizer.json. Raises ValueError when it is refused."""
        known = llguidance.LLTokenizer(tokenizer_json).vocab_size
        self.rows = rows
        self.eos = np.array(sorted(e for e in eos if e < min(rows, known)), np.int64)
        ends = self.eos.tolist() or None
        self.tokenizer = llguidance.LLTokenizer(tokenizer_json, max(rows, known), ends)
        special = self.tokenizer.is_special_token
        self.texts = tuple(
            b"" if token >= known or special(token) else self.tokenizer.decode_bytes([token])
            for token in range(rows)
        )
        self.sizes = np.array([len(text) for text in self.texts], np.int64)
        self.single = {text[0]: token for token, text in _singles(self.texts)}
        self._bytes = np.array(list(self.single), np.int64)
        self._tokens = np.array(list(self.single.values()), np.int64)
        self.plain = _having_none_of(self.texts, _STRUCTURE)
        self.inside = _having_none_of(self.texts, _ENDS_TEXT)

    @cached_property
    def tokens_of(self) -> dict[bytes, list[int]]:
        """All tokens of each text."""
        found: dict[bytes, list[int]] = {}
        for token, text in enumerate(self.texts):
            if text:
                found.setdefault(text, []).append(token)
        return found

    def mask(self, matcher: llguidance.LLMatcher) -> Mask:
        """The tokens that ``matcher`` accepts next.

        Raises FormTooCostly where the grammar is too ambiguous for the library's limits.
        """
        bits = np.frombuffer(matcher.compute_bitmask(), np.uint8)
        if matcher.is_error():
            raise FormTooCostly(matcher.get_error())
        return np.unpackbits(bits, bitorder="little")[: self.rows].view(np.bool_)

    def text(self, tokens: Iterable[int]) -> bytes:
        """The bytes of ``tokens``."""
        return b"".join(self.texts[token] for token in tokens)

    def bytes_in(self, mask: Mask) -> list[int]:
        """The bytes whose own token is set in ``mask``."""
        return [int(byte) for byte in self._bytes[mask[self._tokens]]]


def readable_vocabulary(tokenizer_json: str, rows: int, eos: frozenset[int]) -> Vocabulary:
    """As :class:`Vocabulary`. Raises TokenizerUnreadable."""
    try:
        return Vocabulary(tokenizer_json, rows, eos)
    except ValueError as error:
        raise TokenizerUnreadable(
            f"the grammar library cannot read this model's tokenizer ({error}); use another model"
        ) from error


def _singles(texts: tuple[bytes, ...]) -> list[tuple[int, bytes]]:
    """(token, text) of one byte each; the lowest token of a byte comes last, and so prevails."""
    return [(token, text) for token, text in reversed(list(enumerate(texts))) if len(text) == 1]


def _having_none_of(texts: tuple[bytes, ...], unwanted: frozenset[int]) -> Mask:
    return np.array([bool(text) and unwanted.isdisjoint(text) for text in texts], np.bool_)
