"""Bad steps: each refused with its code, none disturbing the session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from split_wire.codec import encode_message
from split_wire.frame import Frame, encode_frame
from split_wire.messages import Step
from split_wire.tensor import Tensor
from tests import oracle
from tests.engines import Device, run, serving

PROMPT = list(range(11, 31))

BAD_STEPS: dict[str, Callable[[Device], bytes]] = {
    "non_finite": lambda d: nan_step(d, float("nan")),
    "wrong_hidden_size": lambda d: raw_step(d, Tensor("f32", (1, 32), bytes(128))),
    "too_many_rows": lambda d: raw_step(d, Tensor("f32", (513, 64), bytes(513 * 256))),
    "context_overflow": lambda d: raw_step(d, Tensor("f32", (512, 64), bytes(512 * 256)), start=1),
    "wrong_shape": lambda d: raw_step(d, Tensor("f32", (0, 64), b"")),
    "unknown_adapter": lambda d: raw_step(d, Tensor("f32", (1, 64), bytes(256)), adapter="bank"),
    "malformed_frame": lambda _: b"SPL1" + bytes(9),
    "unknown_message": lambda _: encode_frame(Frame({"type": "divide"})),
}


def raw_step(device: Device, rows: Tensor, start: int = 0, **fields: Any) -> bytes:
    chain = device.protocol._chain
    session = device.protocol.opened.session
    return encode_message(Step(session, 2, start, chain.at(start), rows, **fields))


def nan_step(device: Device, value: float) -> bytes:
    values = torch.full((1, 64), value).numpy()
    return raw_step(device, Tensor("f32", (1, 64), values.tobytes()))


@pytest.mark.parametrize("code", sorted(BAD_STEPS))
def test_a_bad_step_is_refused_and_the_session_goes_on(tiny_path: Path, code: str) -> None:
    async def scenario() -> list[int]:
        async with serving(tiny_path) as service:
            device = await Device(service, tiny_path).open()
            ids = await device.greedy(PROMPT, 1)
            answer = await service.handle("local", BAD_STEPS[code](device))
            assert answer.error is not None
            assert answer.error.code == code
            return ids + await device.greedy(PROMPT + ids, 4, start=len(PROMPT))

    assert run(scenario()) == oracle.greedy(tiny_path, PROMPT, 5)
