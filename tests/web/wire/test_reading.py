"""Frames that were damaged at random mean the same to the web app as to the Python reader."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack

from scripts.vectors.wire.fields import describe
from split_wire.codec import decode_client_message, decode_server_message
from split_wire.errors import SplitError
from split_wire.messages import Message
from tests.web.browsing import node

_REPOSITORY = Path(__file__).parents[3]
_TOOL = _REPOSITORY / "web/test/tools/wire/codes.js"
_VECTORS = _REPOSITORY / "tests/vectors/wire.json"
_LIMIT = 4096
_ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    1.0,
    2.5,
    float("nan"),
    float("inf"),
    1e9,
    2**31,
    2**31 + 1,
    2**53 - 1,
    2**53,
    2**64 - 1,
    -(2**63),
    "",
    "last",
    "f32",
    "f64",
    "é" * 200,
    "😀" * 200,
    "😀" * 201,
    "a\x1b[2J\u200b\u00a0\ud7ff\U0010ffff",
    b"",
    bytes(16),
    [],
    ["a"] * 65,
    {},
    {"heads": "mean"},
    {"layers": 1, "heads": 1},
    msgpack.ExtType(5, b"x"),
    msgpack.Timestamp(1, 2),
)


def meaning(read: Callable[[bytes, int], Message], frame: bytes) -> Any:
    try:
        return describe(read(frame, _LIMIT))
    except SplitError as error:
        return error.code


def damaged(frame: bytes, draw: random.Random) -> bytes:
    """A byte changed, taken out or added, or the end cut off."""
    changed = bytearray(frame)
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(changed))
        match draw.randrange(4):
            case 0:
                changed[at] = draw.randrange(256)
            case 1:
                changed[at] ^= 1 << draw.randrange(8)
            case 2:
                changed.insert(at, draw.randrange(256))
            case _:
                del changed[at + 1 :]
    return bytes(changed)


def rewritten(frame: bytes, draw: random.Random) -> bytes:
    """One field of the header with a value that it should not, or may just have."""
    length = int.from_bytes(frame[4:8], "little")
    header = msgpack.unpackb(frame[8 : 8 + length])
    header[draw.choice([*header, "tensors", "attention", "step", "later"])] = draw.choice(_ODD)
    packed = msgpack.packb(header)
    rest = frame[-(-(8 + length) // 8) * 8 :]
    padding = bytes(-(8 + len(packed)) % 8) if rest else b""
    return frame[:4] + len(packed).to_bytes(4, "little") + packed + padding + rest


def test_damaged_frames_mean_the_same_in_both_languages() -> None:
    draw = random.Random(12)  # noqa: S311
    whole = [bytes.fromhex(each["frame"]) for each in json.loads(_VECTORS.read_text())["messages"]]
    frames = [damaged(draw.choice(whole), draw) for _ in range(3000)]
    frames += [rewritten(draw.choice(whole), draw) for _ in range(3000)]
    asked = json.dumps({"frames": [frame.hex() for frame in frames], "limit": _LIMIT})
    done = subprocess.run([node(), _TOOL], input=asked, capture_output=True, text=True, check=True)
    readers = (decode_server_message, decode_client_message)
    meanings = [[meaning(read, frame) for read in readers] for frame in frames]
    told = json.loads(done.stdout)
    differing = [
        (frame.hex(), wanted, got)
        for frame, wanted, got in zip(frames, meanings, told, strict=True)
        if wanted != got
    ]
    assert differing == []
    assert sum(isinstance(each, dict) for pair in meanings for each in pair) > 500
