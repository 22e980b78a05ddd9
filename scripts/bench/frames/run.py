"""Bytes of a decode step and its result, field by field.

python -m scripts.bench.frames.run [--hidden 192] [--dtype f32]
"""

from __future__ import annotations

import argparse
import secrets
import struct
from typing import cast

import msgpack
import numpy as np

from split_wire.codec import encode_message
from split_wire.digest import DIGEST_BYTES
from split_wire.messages import Message, Result, Step
from split_wire.tensor import WIRE_DTYPES, Tensor, WireDtype

# Numbers of a usual length: a chat of some thousand tokens, a pass of some milliseconds.
_STEP, _CACHED, _COMPUTE_US, _QUEUE_US = 1234, 5678, 8000, 120
_SESSION_BYTES, _FIXED = 16, 8


def messages(hidden: int, dtype: WireDtype) -> dict[str, Message]:
    """A step of one row and its result."""
    row = Tensor.from_f32(np.ones((1, hidden), np.float32), dtype)
    session, prefix = secrets.token_urlsafe(_SESSION_BYTES), bytes(DIGEST_BYTES)
    step = Step(session, _STEP, _CACHED - 1, prefix, row)
    result = Result(session, _STEP, _CACHED, row, _COMPUTE_US, _QUEUE_US, prefix)
    return {"step": step, "result": result}


def by_field(frame: bytes) -> dict[str, int]:
    """The bytes of each field of a frame's header, of what surrounds them, and of the row."""
    (length,) = struct.unpack_from("<I", frame, 4)
    header = msgpack.unpackb(frame[_FIXED : _FIXED + length])
    fields = {
        str(name): len(msgpack.packb(name)) + len(msgpack.packb(value))
        for name, value in header.items()
    }
    row = len(frame) - _FIXED - length
    return {"around": _FIXED + length - sum(fields.values()), **fields, "row and padding": row}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hidden", type=int, default=192)
    parser.add_argument("--dtype", choices=WIRE_DTYPES, default="f32")
    options = parser.parse_args()
    for name, message in messages(options.hidden, cast(WireDtype, options.dtype)).items():
        sizes = by_field(encode_message(message))
        listed = ", ".join(f"{field} {size}" for field, size in sizes.items())
        print(f"{name}: {sum(sizes.values())} bytes: {listed}")


if __name__ == "__main__":
    main()
