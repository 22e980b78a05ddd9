"""Messages and numbers of the wire as JSON: bytes in hex, float32 as the hex of their bits."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from split_wire.attention import AttentionRows, request_value
from split_wire.messages import Message, Step
from split_wire.probe import Probe
from split_wire.tensor import Tensor
from split_wire.tiers import Inexact

# Few messages have them, and a device that takes no documents knows none.
_OF_DOCUMENTS = ("chunks", "sources")


def describe(message: Message) -> dict[str, Any]:
    """Every field of ``message``, defaults included but for those of documents, under the message's
    type.
    """
    described: dict[str, Any] = {"type": type(message).__name__.lower()}
    for field in fields(message):
        value = getattr(message, field.name)
        if value or field.name not in _OF_DOCUMENTS:
            described[field.name] = _plain(value)
    if isinstance(message, Step):
        described["attention"] = request_value(message.attention)
    if described["type"] == "failure":
        described["type"] = "error"
    return described


def _plain(value: object) -> Any:
    if isinstance(value, Tensor):
        return describe_tensor(value)
    if isinstance(value, AttentionRows | Probe):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Inexact):
        return value.counts()
    if isinstance(value, bytes):
        return value.hex()
    return list(value) if isinstance(value, tuple) else value


def describe_tensor(tensor: Tensor) -> dict[str, Any]:
    """A tensor's stored bytes and the values they stand for: numbers, or bits of float32."""
    values = tensor.array().tolist() if tensor.dtype == "i32" else map(bits, tensor.to_f32())
    return {
        "dtype": tensor.dtype,
        "shape": list(tensor.shape),
        "data": bytes(tensor.data).hex(),
        "scales": bytes(tensor.scales).hex(),
        "values": list(values),
    }


def bits(values: NDArray[np.float32]) -> list[str]:
    """The IEEE 754 bits of each value, most significant digit first."""
    return [f"{pattern:08x}" for pattern in np.ascontiguousarray(values, "<f4").view("<u4")]


def from_bits(patterns: list[str]) -> NDArray[np.float32]:
    """The values whose bits are ``patterns``."""
    return np.array([int(pattern, 16) for pattern in patterns], "<u4").view("<f4")
