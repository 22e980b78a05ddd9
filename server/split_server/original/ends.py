"""The part of a client's ends that the server checks them by: its tokenizer and 16-bit rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from split_server.checkpoint.half_rows import HalfSource


def encoder(tokenizer_json: bytes) -> Callable[[str], list[int]]:
    """Text to token ids, with the special tokens that the tokenizer adds, never cut or padded."""
    tokenizer = Tokenizer.from_str(tokenizer_json.decode("utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: list(tokenizer.encode(text).ids)


def half_rows(source: HalfSource, hidden_size: int) -> Callable[[int], NDArray[np.float32]]:
    """Token id to its row [H] of the 16-bit file that clients fetch."""
    width = 2 * hidden_size

    def row(token: int) -> NDArray[np.float32]:
        with source.opened() as read:
            return np.frombuffer(read(token * width, width), "<f2").astype(np.float32)

    return row
