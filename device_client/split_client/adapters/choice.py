"""Adapters to choose from, and the choice by the words of a message, made on the device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from split_client.generation.sequence import Sequence as TokenSequence

# Enough for any message that a person writes; a pasted book need not be searched whole.
_SEARCHED = 50_000
_BETWEEN_WORDS = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class AdapterInfo:
    """An adapter as its owner describes it: ``h + scale * B (A h)`` with A [rank, hidden_size].

    ``encrypted``: evaluated on ciphertexts under the device's key, else in the clear.
    """

    name: str
    description: str
    rank: int
    hidden_size: int
    scale: float
    keywords: tuple[str, ...]
    encrypted: bool


class Adapters(Protocol):
    """Those that one owner offers."""

    @property
    def available(self) -> tuple[AdapterInfo, ...]:
        """In the owner's order."""

    def use(self, name: str | None, sequence: TokenSequence) -> None:
        """Have the hidden states of ``sequence`` changed by that adapter, or (None) by none.

        Does nothing when it is in use already. Raises UnknownAdapter.
        """

    def prepare(self, name: str) -> None:
        """Begin what a reply with that adapter may find done; waits for nothing, raises nothing."""

    def close(self) -> None:
        """Give up what is held for it; safe to call twice."""


def choose(text: str, adapters: Sequence[AdapterInfo]) -> AdapterInfo | None:
    """The adapter with the most keywords in ``text``, the first of several, None without any.

    A keyword counts once, as whole words, in any case; what stands between words does not matter.
    """
    words = _words(text[:_SEARCHED])
    best, most = None, 0
    for adapter in adapters:
        keywords = {_words(keyword) for keyword in adapter.keywords} - {"  "}
        hits = sum(keyword in words for keyword in keywords)
        if hits > most:
            best, most = adapter, hits
    return best


def _words(text: str) -> str:
    """The words of ``text`` in one case with single spaces before, between and after them."""
    return f" {_BETWEEN_WORDS.sub(' ', text.casefold()).strip()} "
