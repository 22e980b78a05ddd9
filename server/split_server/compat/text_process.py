"""The process that tokenizes what cannot be cut, and what it may take."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from split_client.errors import TextTooCostly
from split_client.model.tokenizer import without_surrogates
from split_client.tokenizer.confined import ConfinedEngine

_T = TypeVar("_T")
# Bytes of UTF-8. The library takes up to 200 for each of them.
LONGEST_WHOLE = 512 << 10
# What texts take in the server itself at once: tokenizing a piece of 32,768 characters and a short
# text of 8,192, at four bytes for a character and 200 for each of those bytes; one large body that
# is parsed, a dozen times over where each character takes four bytes; and answers.
TEXT_BYTES = 128 << 20
_SECONDS = 5.0
_IDLE_SECONDS = 60.0
_MEMORY = 192 << 20
# Of the process for each byte of the tokenizer's file.
_FILE_FACTOR = 24


def process_bytes(path: Path) -> int:
    """Bytes of memory that the process may take for the tokenizer in the file at ``path``."""
    return _MEMORY + _FILE_FACTOR * (path.stat().st_size if path.exists() else 0)


class TextProcess:
    """Starts with the first text and ends once ``idle`` seconds pass without another.

    From any thread; texts wait for each other.
    """

    def __init__(
        self, path: Path, *, seconds: float = _SECONDS, idle: float = _IDLE_SECONDS
    ) -> None:
        self._engine = ConfinedEngine(path, seconds=seconds, memory=process_bytes(path))
        self._idle = idle
        self._lock = threading.Lock()
        self._ending: threading.Timer | None = None

    def encode(self, text: str, special: bool) -> list[int]:
        """Ids of ``text``. Raises TextTooCostly."""
        clean = without_surrogates(text)
        size = len(clean) if clean.isascii() else len(clean.encode())
        if size > LONGEST_WHOLE:
            raise TextTooCostly(f"{size} bytes of it can only be taken whole")
        return self._while_used(lambda: self._engine.encode(clean, special))

    def decode(self, ids: list[int], skip_special: bool) -> str:
        """The text of ``ids``. Raises TextTooCostly."""
        if len(ids) > LONGEST_WHOLE:
            raise TextTooCostly(f"{len(ids)} tokens can only be taken whole")
        return self._while_used(lambda: self._engine.decode(ids, skip_special))

    def close(self) -> None:
        """End the process, also in the middle of a text."""
        with self._lock:
            if self._ending is not None:
                self._ending.cancel()
        self._engine.kill()

    def _while_used(self, work: Callable[[], _T]) -> _T:
        with self._lock:
            if self._ending is not None:
                self._ending.cancel()
        try:
            return work()
        finally:
            self._end_later()

    def _end_later(self) -> None:
        ending = threading.Timer(self._idle, self._engine.close)
        ending.daemon = True
        with self._lock:
            if self._ending is not None:
                self._ending.cancel()
            self._ending = ending
            ending.start()
