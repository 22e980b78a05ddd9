"""One frame of every message, and frames that only a tolerant reader takes."""

from __future__ import annotations

import struct
from typing import Any

import msgpack
import numpy as np

from split_wire.digest import PrefixChain
from split_wire.errors import CacheFull, MalformedFrame, Overloaded, StepConflict
from split_wire.frame import decode_frame
from split_wire.messages import (
    Close,
    Closed,
    Failure,
    Message,
    Open,
    Opened,
    Ping,
    Pong,
    Result,
    Step,
    decode_client_message,
    decode_server_message,
    encode_message,
)
from split_wire.tensor import WIRE_DTYPES, Tensor, WireDtype, align

from ._wire_fields import describe

SESSION = "s_4f0c9b"
MANIFEST = "9f" * 32
LIMIT = 1 << 20
CHAIN = PrefixChain(MANIFEST)


def rows(count: int, width: int, dtype: WireDtype) -> Tensor:
    """Small values that every dtype but i8 holds exactly: sixteenths around zero."""
    values = (np.arange(count * width, dtype=np.float32) - 5).reshape(count, width) / np.float32(16)
    return Tensor.from_f32(values, dtype)


def _step(dtype: WireDtype, count: int, width: int, **options: Any) -> Step:
    return Step(SESSION, 1, 0, CHAIN.at(0), rows(count, width, dtype), **options)


def _messages() -> list[tuple[str, str, Message]]:
    device: list[tuple[str, Message]] = [
        ("open with nothing but the version", Open()),
        ("open for a manifest", Open(MANIFEST)),
        ("open with every field", Open(MANIFEST, "i8", capabilities=("attention", "later"))),
        *[(f"step of one {dtype} row", _step(dtype, 1, 3)) for dtype in WIRE_DTYPES],
        *[(f"step of three {dtype} rows", _step(dtype, 3, 5)) for dtype in WIRE_DTYPES],
        ("step with every field", _step("bf16", 2, 4, rows="all", adapter="bank", attention=True)),
        ("close", Close(SESSION)),
        ("ping", Ping()),
    ]
    hidden = rows(1, 4, "bf16")
    after = CHAIN.following(0, hidden)[-1]
    server: list[tuple[str, Message]] = [
        ("opened", Opened(SESSION, MANIFEST, "bf16", 512, 4096)),
        ("opened with capabilities", Opened(SESSION, MANIFEST, "f32", 64, 99, capabilities=("a",))),
        ("result", Result(SESSION, 1, 1, hidden)),
        ("result with every field", Result(SESSION, 7, 1, hidden, 25000, 310, after)),
        ("result of all rows", Result(SESSION, 2, 9, rows(3, 4, "f32"))),
        ("closed", Closed(SESSION)),
        ("pong", Pong()),
        ("error without a session", Failure.of(MalformedFrame("the magic is missing"))),
        ("error of a step", Failure.of(StepConflict(4, 3), SESSION, 4)),
        ("error that may pass", Failure.of(Overloaded("the queue is full", 2.5), SESSION, 4)),
        ("error without a delay", Failure.of(CacheFull(640, 4096, 0, 512), SESSION, 4)),
    ]
    return [(name, "server", message) for name, message in device] + [
        (name, "device", message) for name, message in server
    ]


def messages() -> list[dict[str, Any]]:
    """Frames as this implementation writes them; ``to`` names who reads them."""
    return [_described(name, to, encode_message(message)) for name, to, message in _messages()]


def _described(name: str, to: str, data: bytes) -> dict[str, Any]:
    message: Message = (
        decode_client_message(data, LIMIT) if to == "server" else decode_server_message(data, LIMIT)
    )
    case = {"name": name, "to": to, "frame": data.hex(), "fields": describe(message)}
    tensors = decode_frame(data, LIMIT).tensors
    if tensors:
        case["offsets"] = {name: _offsets(data, tensor) for name, tensor in tensors.items()}
    return case


def _offsets(data: bytes, tensor: Tensor) -> list[int]:
    """Where the only tensor of a frame starts and, for i8, its scales."""
    (length,) = struct.unpack_from("<I", data, 4)
    start = align(8 + length)
    return [start, align(start + len(tensor.data))] if tensor.dtype == "i8" else [start]


def frame(header: dict[Any, Any] | bytes, tail: bytes = b"", length: int | None = None) -> bytes:
    """A frame from its parts, right or wrong."""
    packed = header if isinstance(header, bytes) else msgpack.packb(header)
    return struct.pack("<4sI", b"SPL1", len(packed) if length is None else length) + packed + tail


def padded(header: dict[str, Any], row: bytes, filler: bytes = b"\0") -> bytes:
    """A frame with the raw bytes ``row`` at the next multiple of 8."""
    head = frame(header)
    return head + filler * (-len(head) % 8) + row


def tolerated() -> list[dict[str, Any]]:
    """Frames of other writers that mean the same as a message without the extras."""
    long_header = msgpack.packb({"type": "close", "session": SESSION, "x": {"y": [1, None, b"z"]}})
    wide = b"\x82\xa4type\xa4open\xa7version\xce\x00\x00\x00\x01"
    extra = {"type": "ping", "tensors": [["x", "f32", [1, 1]]]}
    cases: list[tuple[str, bytes]] = [
        ("an unknown key", frame({"type": "ping", "later": [1, 2, {"x": None}]})),
        ("an unknown key holding a map", frame(long_header)),
        ("an unknown key holding an extension", frame({"type": "ping", "t": msgpack.Timestamp(5)})),
        ("optional fields that are nil", frame({"type": "open", "version": 1, "manifest": None})),
        ("another order of keys", frame({"session": SESSION, "type": "close"})),
        (
            "an integer in a wider form",
            frame(wide),
        ),
        ("an empty list of tensors", frame({"type": "ping", "tensors": []})),
        (
            "a tensor that no field asks for",
            padded(extra, bytes(4)),
        ),
    ]
    return [_described(name, "server", data) for name, data in cases]
