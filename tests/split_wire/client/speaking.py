"""A client that speaks, and what a server would answer it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from split_wire.client import (
    ClientProtocol,
    SessionOpened,
)
from split_wire.codec import decode_client_message, encode_message
from split_wire.messages import Message, Opened, Result, Step
from split_wire.tensor import Tensor, WireDtype

WIDTH, LIMIT = 4, 1 << 20
OPENED = Opened("s1", "m", "f32", 3, 8)


def values(count: int, value: float = 1.0) -> NDArray[np.float32]:
    return np.full((count, WIDTH), value, np.float32)


def tensor(count: int, value: float = 0.5, dtype: WireDtype = "f32") -> Tensor:
    return Tensor.from_f32(values(count, value), dtype)


def ready(opened: Opened = OPENED) -> ClientProtocol:
    client = ClientProtocol(WIDTH, opened.manifest)
    client.open()
    assert isinstance(client.receive(encode_message(opened)), SessionOpened)
    return client


def result(step: int = 1, cached: int = 1, session: str = "s1", **options: Any) -> Result:
    options.setdefault("hidden", tensor(1))
    return Result(session, step, cached, **options)


def give(client: ClientProtocol, message: Message) -> object:
    return client.receive(encode_message(message))


def sent(frame: bytes) -> Step:
    message = decode_client_message(frame, LIMIT)
    assert isinstance(message, Step)
    return message
