"""``adapter.safetensors``: the matrices A and B, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize

from split_wire.floats import bf16_to_f32

MAX_BYTES = 128 << 20
_deserialize: Callable[[bytes], list[tuple[str, Mapping[str, Any]]]] = deserialize


def parse_tensors(
    data: bytes, rank: int, hidden_size: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A [rank, hidden] and B [hidden, rank], float32, read-only. Raises ValueError.

    The format (https://github.com/huggingface/safetensors#format) allows no code; the library
    checks that the tensors cover the file without gaps.
    """
    try:
        found = dict(_deserialize(data))
    except SafetensorError as error:
        raise ValueError("adapter.safetensors is damaged or is not a safetensors file") from error
    if set(found) != {"A", "B"}:
        names = ", ".join(sorted(name[:40] for name in found)[:5])
        raise ValueError(f"its tensors must be A and B, not {names or 'none'}")
    return (
        _matrix("A", found["A"], (rank, hidden_size)),
        _matrix("B", found["B"], (hidden_size, rank)),
    )


def _matrix(name: str, entry: Mapping[str, Any], shape: tuple[int, int]) -> NDArray[np.float32]:
    if tuple(entry["shape"]) != shape:
        raise ValueError(
            f"{name} has the shape {list(entry['shape'])[:4]} and adapter.json says {list(shape)}"
        )
    values = _widened(name, str(entry["dtype"]), entry["data"]).reshape(shape)
    if not np.isfinite(values).all():
        raise ValueError(f"{name} has values that are not finite")
    values.flags.writeable = False
    return values


def _widened(name: str, dtype: str, data: bytes | bytearray) -> NDArray[np.float32]:
    match dtype:
        case "F32":
            return np.frombuffer(bytes(data), "<f4").astype(np.float32)
        case "F16":
            return np.frombuffer(bytes(data), "<f2").astype(np.float32)
        case "BF16":
            return bf16_to_f32(np.frombuffer(bytes(data), "<u2"))
    raise ValueError(f"{name} is {dtype}; float32, float16 and bfloat16 are read")
