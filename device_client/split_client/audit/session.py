"""A session whose answers bring the states of all rows, not of the last one alone.

The attacker's: a server can run the model on whatever rows it likes. The device measures its own
utility over one, too.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from split_client.audit.allowance import Allowance
from split_client.audit.reach import Reach
from split_client.errors import ServerRefused
from split_client.transport.channel import Channel
from split_client.weights.manifest import Manifest
from split_wire.client import ClientProtocol, StepCompleted, StepFailed
from split_wire.limits import frame_limit
from split_wire.messages import DEFAULT_MAX_ROWS
from split_wire.tensor import WireDtype


class Model(Protocol):
    """The middle of the model: a cache that is cut back and grown, and states that come out."""

    def run(
        self, rows: NDArray[np.float32], start: int, adapter: str | None = None
    ) -> NDArray[np.float32]:
        """Keep ``start`` positions, append ``rows`` [n, H]; their final states [n, H]."""


class AllStates:
    """One session of ``manifest``'s model at ``server``; ``dtype`` None is the server's own.

    No step is begun beyond ``allowance``.
    """

    def __init__(
        self,
        server: Reach,
        manifest: Manifest,
        dtype: WireDtype | None = None,
        allowance: Allowance | None = None,
    ) -> None:
        self._allowance = allowance or Allowance()
        longest = frame_limit(manifest.hidden_size, DEFAULT_MAX_ROWS)
        self._channel = Channel(server.connect(longest), server.mode)
        self._manifest, self._asked = manifest, dtype
        self._protocol = self._anew()

    def _anew(self) -> ClientProtocol:
        return ClientProtocol(self._manifest.hidden_size, self._manifest.digest, self._asked)

    @property
    def dtype(self) -> WireDtype:
        """The dtype in which rows travel; opens the session."""
        opened = self._protocol.opened
        if opened is None:
            self._exchange(self._protocol.open())
            opened = self._protocol.opened
        if opened is None:
            raise ServerRefused("answer_invalid", "the server does not open a session")
        return opened.dtype

    def run(
        self, rows: NDArray[np.float32], start: int, adapter: str | None = None
    ) -> NDArray[np.float32]:
        """As :meth:`Model.run`. Raises ServerRefused, the channel's errors and TimeUp.

        What begins at the first row goes on in a new session where the server has given up this
        one, as it does with one that was idle for long.
        """
        try:
            return self._run(rows, start, adapter)
        except ServerRefused:
            if start > 0:
                raise
            self._protocol = self._anew()
            return self._run(rows, start, adapter)

    def _run(
        self, rows: NDArray[np.float32], start: int, adapter: str | None
    ) -> NDArray[np.float32]:
        _, opened = self.dtype, self._protocol.opened
        most = min(DEFAULT_MAX_ROWS, 1 if opened is None else opened.max_rows)
        states = []
        for first in range(0, len(rows), most):
            self._allowance.check()
            part = rows[first : first + most]
            frame = self._protocol.step(start + first, part, "all", adapter=adapter)
            answer = self._exchange(frame)
            if not isinstance(answer, StepCompleted):
                raise ServerRefused("answer_invalid", "the answer to a step is not its result")
            states.append(answer.hidden)
        return np.concatenate(states)

    def close(self) -> None:
        """End the session and its connection."""
        frame = self._protocol.close()
        if frame is not None:
            self._channel.send_once(frame, 2.0)
        self._channel.close()

    def _exchange(self, frame: bytes) -> object:
        event = self._protocol.receive(self._channel.exchange(frame))
        if isinstance(event, StepFailed):
            raise ServerRefused.of(event.failure.error())
        return event
