"""A transport with no server behind it: every step is answered with zeros.

The distinguishing game looks only at what travels up, and thousands of releases need no model.
"""

from __future__ import annotations

import numpy as np

from split_wire.codec import decode_client_message, encode_message
from split_wire.errors import MalformedMessage
from split_wire.messages import Close, Closed, Open, Opened, Ping, Pong, Result, ServerMessage, Step
from split_wire.tensor import Tensor, WireDtype

_ROWS, _CONTEXT = 512, 1 << 16


class StandIn:
    """Accepts any session; rows travel in ``dtype`` where the device does not ask for another."""

    name = "websocket"

    def __init__(self, hidden: int, dtype: WireDtype) -> None:
        self._hidden, self._dtype = hidden, dtype
        self._agreed = dtype

    def exchange(self, frame: bytes, timeout: float) -> bytes:
        """As :meth:`split_client.transport.base.Transport.exchange`."""
        del timeout
        return encode_message(self._answer(frame))

    def accept(self, max_frame: int) -> None:
        """Answers are short."""

    def close(self) -> None:
        """Nothing is held."""

    def _answer(self, frame: bytes) -> ServerMessage:
        match decode_client_message(frame, len(frame)):
            case Open(manifest=manifest, dtype=dtype):
                self._agreed = dtype or self._dtype
                return Opened("stand-in", manifest or "", self._agreed, _ROWS, _CONTEXT)
            case Step() as step:
                zeros = np.zeros((1, self._hidden), np.float32)
                cached = step.start + step.embeddings.rows
                hidden = Tensor.from_f32(zeros, self._agreed)
                return Result(step.session, step.step, cached, hidden)
            case Close(session=session):
                return Closed(session)
            case Ping():
                return Pong()
        raise MalformedMessage("no message of a device")
