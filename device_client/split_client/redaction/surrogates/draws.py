"""Choices that follow from a secret and a value, the same in every program."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import Final, TypeVar

T = TypeVar("T")
_LABEL: Final = "gatelink.redaction.1"
_BYTE_CHOICES: Final = 16


class Draws:
    """Of one attempt for one value: 32 bytes of HMAC-SHA-256 (RFC 2104), taken from the first."""

    def __init__(self, secret: bytes, kind: str, key: str, attempt: int) -> None:
        told = "\0".join((_LABEL, kind, key, str(attempt)))
        self._bytes = iter(hmac.digest(secret, told.encode("utf-8", "replace"), hashlib.sha256))

    def below(self, count: int) -> int:
        """From 0; one byte for up to 16 choices, two for more."""
        drawn = next(self._bytes)
        if count > _BYTE_CHOICES:
            drawn = drawn << 8 | next(self._bytes)
        return drawn % count

    def one_of(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]

    def digits(self, count: int) -> str:
        return "".join(str(self.below(10)) for _ in range(count))

    def like(self, characters: str) -> str:
        """A digit for each digit, a capital for each letter."""
        return "".join(map(self._like, characters))

    def _like(self, character: str) -> str:
        # A letter takes one byte as a digit does, so that 32 of them suffice.
        drawn = next(self._bytes)
        return str(drawn % 10) if character.isdecimal() else chr(65 + drawn % 26)
