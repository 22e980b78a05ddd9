"""Facts that recorded bytes show by themselves: rows sent, states returned, counts and times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.audit.errors import RecordingInvalid
from split_client.audit.recording import Exchange
from split_wire.codec import decode_client_message, decode_server_message
from split_wire.errors import SplitError
from split_wire.messages import Opened, Result, Step
from split_wire.tensor import WireDtype


@dataclass(frozen=True, slots=True)
class ObservedStep:
    """One step that was answered: ``rows`` [n, H] appended after ``start``, ``returned`` [m, H].

    ``sent`` and ``answered`` in seconds of the recorder's clock.
    """

    start: int
    rows: NDArray[np.float32]
    returned: NDArray[np.float32]
    sent: float
    answered: float


@dataclass(frozen=True, slots=True)
class Observed:
    """One conversation as its server saw it."""

    dtype: WireDtype
    steps: tuple[ObservedStep, ...]

    @property
    def prompt_steps(self) -> int:
        """The number of steps that carried the prompt.

        The first one and those that follow it at once with more than a row: a reply's tokens
        travel one by one.
        """
        count = 1
        while count < len(self.steps) and len(self.steps[count].rows) > 1:
            count += 1
        return count

    @property
    def prompt_rows(self) -> NDArray[np.float32]:
        """The rows of the prompt, [n, H]."""
        return np.concatenate([step.rows for step in self.steps[: self.prompt_steps]])

    @property
    def texts(self) -> list[NDArray[np.float32]]:
        """The rows of every text that the session held before something of it was edited, and of
        the last one, each [n, H].
        """
        found, held = [], np.empty((0, self.steps[0].rows.shape[1]), np.float32)
        for step in self.steps:
            if step.start < len(held):
                found.append(held)
            held = np.concatenate([held[: step.start], step.rows])
        return [*found, held]

    @property
    def reply_states(self) -> NDArray[np.float32]:
        """The state that each token of the reply was chosen from, [tokens, H]."""
        return np.stack([step.returned[-1] for step in self.steps[self.prompt_steps - 1 :]])


def observe(exchanges: tuple[Exchange, ...]) -> Observed:
    """Read the frames of one conversation. Raises RecordingInvalid."""
    dtype: WireDtype | None = None
    steps = []
    for exchange in exchanges:
        if not exchange.received:
            continue
        try:
            sent = decode_client_message(exchange.sent, len(exchange.sent))
            answer = decode_server_message(exchange.received, len(exchange.received))
        except SplitError as error:
            raise RecordingInvalid(str(error)) from error
        if isinstance(answer, Opened):
            dtype = answer.dtype
        if isinstance(sent, Step) and isinstance(answer, Result):
            rows, returned = sent.embeddings.to_f32(), answer.hidden.to_f32()
            steps.append(ObservedStep(sent.start, rows, returned, exchange.began, exchange.ended))
    if dtype is None or not steps:
        raise RecordingInvalid("it has no session with a step that was answered")
    return Observed(dtype, tuple(steps))
