"""One frame of every message, and frames that only a tolerant reader takes."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgpack
import numpy as np

from scripts.vectors.wire.fields import describe
from split_wire.attention import AttentionRequest, AttentionRows
from split_wire.codec import decode_client_message, decode_server_message, encode_message
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
    Restore,
    Restored,
    Result,
    Step,
)
from split_wire.probe import Probe
from split_wire.tensor import WIRE_DTYPES, Tensor, WireDtype, align
from split_wire.tiers import Inexact

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


def named(count: int) -> PrefixChain:
    """The chain of so many rows."""
    chain = PrefixChain(MANIFEST)
    chain.replace(0, chain.following(0, rows(count, 4, "bf16")))
    return chain


NAMED = named(40)
PROBE = Probe.of(NAMED)
# A digest of every second block.
SPARSE = Probe(40, 32, NAMED.at(32) + NAMED.at(40))


def _asking_to_begin() -> Open:
    return Open(MANIFEST, "bf16", probe=PROBE, cache_salt="the salt of a browser")


def _sharing() -> Open:
    return Open(MANIFEST, "bf16", cache_group="a family", share_until=2**53 - 1)


_REQUESTS = [
    ("the mean attention over heads", AttentionRequest("mean")),
    ("the largest attention in half precision", AttentionRequest("all", 2, "f16")),
    ("the largest 4096 of the maximum over heads", AttentionRequest("max", 4096)),
    ("the attention of two layers", AttentionRequest(layers=(0, 2))),
    (
        "one row of the last layers' means",
        AttentionRequest("mean", 80, "f16", layers=(22, 23), reduce="mean"),
    ),
    ("the largest of all rows", AttentionRequest(reduce="max")),
]


def _every_step() -> Step:
    return _step("bf16", 2, 4, rows="all", adapter="bank", attention=AttentionRequest())


def _interactive() -> Opened:
    return Opened(SESSION, MANIFEST, "f32", 64, 99, capabilities=("rows",), interactive_rows=4)


def _opened_with_attention() -> Opened:
    return Opened(SESSION, MANIFEST, "bf16", 512, 4096, 1, ("attention",), 2, 2)


def _opened_with_rows() -> Opened:
    announced = ("attention", "restore")
    return Opened(SESSION, MANIFEST, "bf16", 512, 4096, 1, announced, 2, 2, 32, NAMED.at(32))


def _result_with_everything() -> Result:
    _, attention = _attention()[0]
    hidden = rows(1, 4, "bf16")
    return Result(SESSION, 3, 4, hidden, 9, 1, NAMED.at(4), attention, reused=2)


def _opened_with_tiers() -> Opened:
    opened = _opened_with_rows()
    return replace(opened, tiers=Inexact(opened.cached))


def _result_behind_tiers() -> Result:
    return replace(_result_with_everything(), tiers=Inexact(2, 1))


def _attention() -> list[tuple[str, AttentionRows]]:
    """Over 4 cached positions, 2 layers, 2 heads: eighths, which every dtype holds exactly."""
    eighths = [[[1, 5, 2, 0], [2, 2, 2, 2]], [[0, 0, 8, 0], [3, 1, 3, 1]]]
    weights = np.array(eighths, np.float32) / np.float32(8)
    places = np.array([[[1, 2], [0, 1]], [[2, 0], [0, 2]]], np.int32)
    largest = np.take_along_axis(weights, places.astype(np.int64), 2).astype(np.float16)
    return [
        ("the attention of all heads", AttentionRows.of(weights)),
        ("the mean attention over heads", AttentionRows.of(weights.mean(1, keepdims=True))),
        ("the largest attention in half precision", AttentionRows.of(largest, places)),
    ]


def _streamed() -> Opened:
    return Opened(SESSION, MANIFEST, "f32", 64, 99, layers=30, interactive_rows=32, streamed=22)


def _messages() -> list[tuple[str, str, Message]]:
    device: list[tuple[str, Message]] = [
        ("open with nothing but the version", Open()),
        ("open for a manifest", Open(MANIFEST)),
        ("open with every field", Open(MANIFEST, "i8", capabilities=("attention", "later"))),
        ("open with a probe", _asking_to_begin()),
        ("open that keeps nothing", Open(MANIFEST, cache="off")),
        ("open that takes int8", Open(MANIFEST, cache="int8")),
        ("open that shares its beginning", _sharing()),
        ("open that waits for a place", Open(MANIFEST, wait=True)),
        ("restore from the beginning", Restore(SESSION, 0, CHAIN.at(0), PROBE)),
        ("restore behind what is held", Restore(SESSION, 5, NAMED.at(5), SPARSE)),
        ("restore of a single row", Restore(SESSION, 0, CHAIN.at(0), Probe.of(named(1)))),
        *[(f"step of one {dtype} row", _step(dtype, 1, 3)) for dtype in WIRE_DTYPES],
        *[(f"step of three {dtype} rows", _step(dtype, 3, 5)) for dtype in WIRE_DTYPES],
        ("step with every field", _every_step()),
        ("step for the last state by number", _step("bf16", 2, 4, rows=1)),
        ("step for some states", _step("f32", 3, 5, rows=2)),
        ("step for all states by number", _step("f32", 3, 5, rows=3)),
        *[(f"step for {name}", _step("f32", 1, 2, attention=r)) for name, r in _REQUESTS],
        ("close", Close(SESSION)),
        ("close that keeps nothing", Close(SESSION, keep=False)),
        ("ping", Ping()),
    ]
    hidden = rows(1, 4, "bf16")
    after = CHAIN.following(0, hidden)[-1]
    server: list[tuple[str, Message]] = [
        ("opened", Opened(SESSION, MANIFEST, "bf16", 512, 4096)),
        ("opened with capabilities", Opened(SESSION, MANIFEST, "f32", 64, 99, capabilities=("a",))),
        ("opened with rows that are interactive", _interactive()),
        ("opened by a replica", Opened(SESSION, MANIFEST, "f32", 64, 99, replica="attic-2")),
        ("opened with layers on disk", _streamed()),
        ("result", Result(SESSION, 1, 1, hidden)),
        ("result with every field", Result(SESSION, 7, 1, hidden, 25000, 310, after)),
        ("opened with attention", _opened_with_attention()),
        ("opened that begins with rows", _opened_with_rows()),
        ("restored", Restored(SESSION, 5, 40, 32, NAMED.at(32))),
        ("restored in int8", Restored(SESSION, 5, 40, 32, NAMED.at(32), Inexact(27))),
        ("restored without rows", Restored(SESSION, 0, 40, 0, CHAIN.at(0))),
        ("result with rows sent in vain", Result(SESSION, 1, 40, hidden, prefix=after, reused=32)),
        ("result with rows sent in vain and attention", _result_with_everything()),
        ("opened that begins with int8 rows", _opened_with_tiers()),
        ("result behind rows of two tiers", _result_behind_tiers()),
        *[
            (f"result with {name}", Result(SESSION, 3, 4, hidden, attention=rows))
            for name, rows in _attention()
        ],
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
        case["offsets"] = _offsets(data, tensors)
    return case


def _offsets(data: bytes, tensors: Mapping[str, Tensor]) -> dict[str, list[int]]:
    """The start of each tensor of a frame and, for i8, of its scales."""
    (length,) = struct.unpack_from("<I", data, 4)
    end, offsets = 8 + length, {}
    for name, tensor in tensors.items():
        parts = [tensor.data, tensor.scales] if tensor.dtype == "i8" else [tensor.data]
        offsets[name] = []
        for part in parts:
            offsets[name].append(align(end))
            end = align(end) + len(part)
    return offsets


def frame(header: dict[Any, Any] | bytes, tail: bytes = b"", length: int | None = None) -> bytes:
    """A frame from its parts, right or wrong."""
    packed = header if isinstance(header, bytes) else msgpack.packb(header)
    return struct.pack("<4sI", b"SPL1", len(packed) if length is None else length) + packed + tail


def padded(header: dict[str, Any], row: bytes, filler: bytes = b"\0") -> bytes:
    """A frame with the raw bytes ``row`` at the next multiple of 8."""
    head = frame(header)
    return head + filler * (-len(head) % 8) + row


def _asking(attention: object) -> dict[str, Any]:
    header = {"type": "step", "session": SESSION, "step": 1, "start": 0, "prefix": CHAIN.at(0)}
    return {**header, "attention": attention, "tensors": [["embeddings", "f32", [1, 1]]]}


def _open(**options: Any) -> dict[str, Any]:
    return {"type": "open", "version": 1, **options}


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
        ("a probe that is nil", frame(_open(known=None, stride=None, digests=None))),
        ("a probe of no rows", frame(_open(known=0, stride=0, digests=b""))),
        ("a cache that is nil", frame(_open(cache=None, cache_salt=None))),
        ("a group that is nil", frame(_open(cache_group=None, share_until=None))),
        ("a wait that is nil", frame(_open(wait=None))),
        ("a wait that is false", frame(_open(wait=False))),
        ("a keep that is nil", frame({"type": "close", "session": SESSION, "keep": None})),
        ("a keep that is true", frame({"type": "close", "session": SESSION, "keep": True})),
        ("attention that is nil", padded(_asking(None), bytes(4))),
        ("attention that is false", padded(_asking(False), bytes(4))),
        ("attention with an unknown key", padded(_asking({"heads": None, "x": 1}), bytes(4))),
        ("an empty list of tensors", frame({"type": "ping", "tensors": []})),
        (
            "a tensor that no field asks for",
            padded(extra, bytes(4)),
        ),
    ]
    return [_described(name, "server", data) for name, data in cases]
