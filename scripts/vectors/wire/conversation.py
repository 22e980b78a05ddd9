"""A whole session, frame by frame, with both state machines behind it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.vectors.wire.messages import LIMIT, MANIFEST, SESSION
from split_wire.client import ClientProtocol
from split_wire.codec import decode_client_message, encode_message
from split_wire.digest import PrefixChain
from split_wire.messages import Close, Closed, Opened, Result, Step
from split_wire.session import Run, SessionState, fingerprint
from split_wire.tensor import Tensor

WIDTH = 3
# start and the rows of each step: prefill of two rows, a token, then an edit of that token.
STEPS: list[tuple[int, list[list[float]]]] = [
    (0, [[1.0, -0.5, 0.25], [0.5, 0.0, -2.0]]),
    (2, [[0.75, 1.5, -1.0]]),
    (2, [[-0.125, 3.0, 0.5]]),
]


def conversation() -> dict[str, Any]:
    """``frames`` in the order in which they travel; ``to`` names who reads each."""
    device = ClientProtocol(WIDTH, MANIFEST)
    state = SessionState(PrefixChain(MANIFEST), WIDTH, 512, 4096)
    opened = encode_message(Opened(SESSION, MANIFEST, "bf16", 512, 4096))
    frames = [("server", device.open()), ("device", opened)]
    device.receive(opened)
    for start, rows in STEPS:
        step = device.step(start, np.array(rows, np.float32))
        result = _answer(state, step)
        device.receive(result)
        frames += [("server", step), ("device", result)]
    frames += [
        ("server", encode_message(Close(SESSION))),
        ("device", encode_message(Closed(SESSION))),
    ]
    return {
        "hidden_size": WIDTH,
        "manifest": MANIFEST,
        "steps": [{"start": start, "rows": rows} for start, rows in STEPS],
        "frames": [{"to": to, "frame": data.hex()} for to, data in frames],
    }


def _answer(state: SessionState, frame: bytes) -> bytes:
    step = decode_client_message(frame, LIMIT)
    assert isinstance(step, Step)
    run = state.admit(step, fingerprint(frame))
    assert isinstance(run, Run)
    cached = step.start + step.embeddings.rows
    hidden = Tensor.from_f32(_hidden(step.embeddings.to_f32()), "bf16")
    result = Result(SESSION, step.step, cached, hidden, 1500, 20, run.prefix)
    reply = encode_message(result)
    state.complete(run, reply)
    return reply


def _hidden(embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
    """Stands for a model: the last row, doubled."""
    return embeddings[-1:] * np.float32(2)
