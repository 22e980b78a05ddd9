"""Rounding to the dtypes of the wire, refused tensors, prefix digests and fingerprints."""

from __future__ import annotations

from typing import Any

import numpy as np

from scripts.vectors.wire.fields import bits, describe_tensor, from_bits
from scripts.vectors.wire.messages import MANIFEST, SESSION, rows
from split_wire.codec import encode_message
from split_wire.digest import PrefixChain
from split_wire.errors import SplitError
from split_wire.messages import Step
from split_wire.session import fingerprint
from split_wire.tensor import WIRE_DTYPES, Tensor, WireDtype

# Bits of float32: zeros, ties to even both ways, just beside ties, subnormals, the largest values
# that still round to a finite one.
_BF16 = ["00000000", "80000000", "3f800000", "3f808000", "3f818000", "3f808001", "3f807fff"]
_BF16 += ["bf808000", "00000001", "00008000", "00018000", "007fffff", "7f7f7fff", "ff7f7fff"]
_F16 = ["00000000", "80000000", "3f800000", "3f801000", "3f803000", "3f801001", "3f800fff"]
_F16 += ["bf801000", "33800000", "33000000", "33000001", "387fc000", "387fe000", "00000001"]
_F16 += ["477fe000", "477fefff", "c77fefff"]
_I8 = {
    "the peak is 127": [127.0, 0.5, 1.5, 2.5, -0.5, -1.5, -126.5, -127.0],
    "the peak is negative": [-2.0, 1.0, 0.25, 0.0],
    "a scale that is not exact": [1.0, 0.1, -0.3, 0.7],
    "a row of zeros": [0.0, -0.0, 0.0, 0.0],
    "large values": [1e30, 1e28, -1e30, 0.0],
}
_I8_BITS = {
    "a peak too small for a scale": ["00000001", "80000001", "00000000", "00000000"],
    "the largest value": ["7f7fffff", "ff7fffff", "7e800000", "00000000"],
}
_REFUSED = {
    "bf16": ["7f7f8000", "7f800000", "7fc00000", "ff800000"],
    "f16": ["477ff000", "7f7fffff", "7f800000", "ffc00001"],
    "f32": ["7f800000", "ff800000", "7fc00000"],
    "i8": ["7f800000", "7fc00000"],
}


def rounding() -> dict[str, Any]:
    """The encoding of float32 values; ``refused`` raise non_finite."""
    rows_of_i8 = {name: bits(np.array(row, np.float32)) for name, row in _I8.items()} | _I8_BITS
    return {
        "bf16": [_rounded("bf16", pattern) for pattern in _BF16],
        "f16": [_rounded("f16", pattern) for pattern in _F16],
        "i8": [{"name": name, **_quantised(row)} for name, row in rows_of_i8.items()],
        "refused": _REFUSED,
    }


def _rounded(dtype: WireDtype, pattern: str) -> dict[str, str]:
    tensor = Tensor.from_f32(from_bits([pattern])[None], dtype)
    return {"f32": pattern, "stored": f"{int(tensor.array().view(np.uint16)[0, 0]):04x}"}


def _quantised(row: list[str]) -> dict[str, Any]:
    tensor = Tensor.from_f32(from_bits(row)[None], "i8")
    return {
        "f32": row,
        "stored": tensor.array()[0].tolist(),
        "scale": bits(tensor.row_scales())[0],
        "values": bits(tensor.to_f32()[0]),
    }


def refused_tensors() -> list[dict[str, Any]]:
    """Tensors that a frame may hold and a reader of their values refuses."""
    cases: list[tuple[str, WireDtype, str, str]] = [
        ("a NaN", "f32", "0000c07f", ""),
        ("an infinity", "f32", "000080ff", ""),
        ("a NaN", "f16", "017e", ""),
        ("an infinity", "f16", "007c", ""),
        ("a NaN", "bf16", "c1ff", ""),
        ("an infinity", "bf16", "80ff", ""),
        ("a scale of NaN", "i8", "01", "0000c07f"),
        ("an infinite scale", "i8", "01", "0000807f"),
        ("a scale whose product overflows", "i8", "80", "0100807c"),
        ("a scale of zero", "i8", "01", "00000000"),
        ("a scale below zero", "i8", "01", "000080bf"),
    ]
    return [
        {
            "name": name,
            "dtype": dtype,
            "data": data,
            "scales": scales,
            "error": _error(dtype, data, scales),
        }
        for name, dtype, data, scales in cases
    ]


def _error(dtype: WireDtype, data: str, scales: str) -> str:
    try:
        Tensor(dtype, (1, 1), bytes.fromhex(data), bytes.fromhex(scales)).require_finite()
    except SplitError as error:
        return error.code
    raise AssertionError("a tensor that should be refused was not")


def chains() -> list[dict[str, Any]]:
    """Digests of every prefix, the empty one first."""
    described = [_chain(f"three {dtype} rows", [rows(3, 4, dtype)]) for dtype in WIRE_DTYPES]
    mixed = [rows(1, 4, dtype) for dtype in WIRE_DTYPES]
    return [*described, _chain("a row of every dtype", mixed)]


def _chain(name: str, appended: list[Tensor]) -> dict[str, Any]:
    chain = PrefixChain(MANIFEST)
    for tensor in appended:
        chain.replace(len(chain), chain.following(len(chain), tensor))
    return {
        "name": name,
        "manifest": MANIFEST,
        "appended": [describe_tensor(tensor) for tensor in appended],
        "digests": [chain.at(position).hex() for position in range(len(chain) + 1)],
    }


def fingerprints() -> list[dict[str, str]]:
    """The fingerprints of a step's bytes that a server remembers."""
    prefix = PrefixChain(MANIFEST).at(0)
    frames = [encode_message(Step(SESSION, n, 0, prefix, rows(1, 2, "f32"))) for n in (1, 2)]
    return [{"frame": frame.hex(), "fingerprint": fingerprint(frame).hex()} for frame in frames]
