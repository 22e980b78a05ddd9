"""Real messages with something wrong in them, the same ones for the same generator."""

from __future__ import annotations

import json
import random
import struct
from typing import Any

import msgpack

STRANGE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**31,
    2**53,
    2**63 - 1,
    0.5,
    "",
    "forward",
    "\0\u202e\ud7ff",
    "x" * 300,
    [],
    [[[]]],
    {},
    {"type": "step"},
)


def mutated_bytes(rng: random.Random, data: bytes) -> bytes:
    """One to three of: bits flipped, bytes lost, doubled, moved, replaced, put in; an end cut."""
    for _ in range(rng.randint(1, 3)):
        data = rng.choice((_flip, _lose, _double, _insert, _cut, _number))(rng, data)
    return data


def _span(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randint(0, len(data))
    return start, min(len(data), start + rng.choice((1, 2, 4, 16, 256)))


def _flip(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data or b"\0")
    for _ in range(rng.randint(1, 4)):
        # Most of what is decided is decided by the first bytes.
        last = min(len(changed), rng.choice((8, 120, len(changed)))) - 1
        changed[rng.randint(0, last)] ^= 1 << rng.randint(0, 7)
    return bytes(changed)


def _lose(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:start] + data[end:]


def _double(rng: random.Random, data: bytes) -> bytes:
    start, end = _span(rng, data)
    return data[:end] + data[start:]


def _insert(rng: random.Random, data: bytes) -> bytes:
    start, _ = _span(rng, data)
    return data[:start] + rng.randbytes(rng.randint(1, 40)) + data[start:]


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randint(0, len(data))]


def _number(rng: random.Random, data: bytes) -> bytes:
    """An extreme whole number where a length may be."""
    start, _ = _span(rng, data)
    number = rng.choice((0, 1, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF))
    return data[:start] + struct.pack("<I", number) + data[start + 4 :]


def mutated_frame(rng: random.Random, frame: bytes) -> bytes:
    """A `split.v1` frame with damaged bytes, or well-formed with another header."""
    if rng.random() < 0.5:
        return mutated_bytes(rng, frame)
    end = 8 + struct.unpack_from("<I", frame, 4)[0]
    header = msgpack.unpackb(frame[8:end])
    packed: bytes = msgpack.packb(mutated_map(rng, header))
    tensors = frame[-(-end // 8) * 8 :]
    padding = bytes(-(8 + len(packed)) % 8) if tensors else b""
    return frame[:4] + struct.pack("<I", len(packed)) + packed + padding + tensors


def mutated_map(rng: random.Random, values: dict[str, Any]) -> dict[str, Any]:
    """A map with one to three entries lost, renamed or of another value."""
    values = dict(values)
    for _ in range(rng.randint(1, 3)):
        key = rng.choice(list(values) or ["type"])
        match rng.randint(0, 3):
            case 0:
                values.pop(key, None)
            case 1:
                values[rng.choice(("type", "session", "x", "tensors"))] = values.get(key)
            case _:
                values[key] = _strange(rng, values.get(key))
    return values


def _strange(rng: random.Random, value: Any) -> Any:
    if isinstance(value, list) and value and rng.random() < 0.7:
        index = rng.randrange(len(value))
        return [*value[:index], _strange(rng, value[index]), *value[index + 1 :]]
    if isinstance(value, int) and rng.random() < 0.5:
        return value + rng.choice((-1, 1, 64, 512))
    return rng.choice(STRANGE)


def mutated_text(rng: random.Random, values: dict[str, Any]) -> str:
    """JSON text with damaged characters, or well-formed with other values."""
    if rng.random() < 0.5:
        return json.dumps(mutated_map(rng, values))
    return mutated_bytes(rng, json.dumps(values).encode()).decode("utf-8", "replace")


def mutated_binary(rng: random.Random, values: dict[str, Any], rows: bytes) -> bytes:
    """A binary message of the original protocol with damage in any part."""
    header = json.dumps(mutated_map(rng, values) if rng.random() < 0.5 else values).encode()
    message = struct.pack("<I", len(header)) + header + rows
    return message if rng.random() < 0.3 else mutated_bytes(rng, message)
