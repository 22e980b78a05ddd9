"""Frames by hand, for tests that must not trust the encoder."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import msgpack

from split_wire.errors import SplitError

LIMIT = 1 << 20


def code_of(call: Callable[[], object]) -> str | None:
    """The code of the SplitError that ``call`` raises, None without one; others pass through."""
    try:
        call()
    except SplitError as error:
        return error.code
    return None


def raw_frame(
    header: dict[Any, Any] | bytes, tail: bytes = b"", length: int | None = None
) -> bytes:
    """Magic, length, header, ``tail``: right or wrong as asked."""
    packed = header if isinstance(header, bytes) else msgpack.packb(header)
    return struct.pack("<4sI", b"SPL1", len(packed) if length is None else length) + packed + tail


def with_tensor(header: dict[Any, Any], row: bytes) -> bytes:
    """A frame with ``row`` at the next multiple of 8."""
    head = raw_frame(header)
    return head + bytes(-len(head) % 8) + row
