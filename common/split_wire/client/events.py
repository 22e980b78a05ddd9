"""What the frames of a server mean for the session of a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from split_wire.attention import AttentionWeights
from split_wire.errors import MalformedMessage
from split_wire.hiding.spans import Spans
from split_wire.messages import Failure, Opened
from split_wire.tiers import ALL_EXACT, Inexact


class ProtocolStateError(RuntimeError):
    """The caller asked for something its session's state does not allow."""


class OtherDtype(MalformedMessage):
    """A session was opened in ``given`` where ``asked`` was asked for."""

    def __init__(self, asked: str, given: str) -> None:
        self.asked, self.given = asked, given
        super().__init__(f"'dtype' is {given} where {asked} was asked for")


@dataclass(frozen=True, slots=True)
class SessionOpened:
    """The session can take steps."""

    opened: Opened


@dataclass(frozen=True, slots=True)
class StepCompleted:
    """``hidden`` float32 [rows asked for, H], read-only; the server holds ``cached`` positions.

    Times in microseconds. ``attention``: that of the step's last row, where it was asked for;
    ``reused``: rows that the server says it knew already; ``unseen``: earlier steps that this
    answer proves to have gone through, whose own answers are gone; ``tiers``: which of the cached
    positions are not exact, as the server says.
    """

    hidden: NDArray[np.float32]
    cached: int
    compute_us: int
    queue_us: int
    attention: AttentionWeights | None = None
    reused: int = 0
    unseen: int = 0
    tiers: Inexact = ALL_EXACT


@dataclass(frozen=True, slots=True)
class StepReplaced:
    """The server answered a later step already; whether so is seen when its answer comes again."""


@dataclass(frozen=True, slots=True)
class SessionRestored:
    """The server holds the first ``cached`` positions of what it was asked for."""

    cached: int


@dataclass(frozen=True, slots=True)
class SpansHidden:
    """Those positions, and no others, are hidden in the session now."""

    spans: Spans


@dataclass(frozen=True, slots=True)
class ChunksFound:
    """The server has those of the chunks that it was asked for, by their numbers."""

    known: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StepFailed:
    """The server refused the outstanding message; nothing is outstanding any more,
    also not the steps behind it.

    The device's ``cached`` is unchanged; the server may hold less, and then answers the next step
    with ``start_beyond_cache`` or ``prefix_mismatch``.
    """

    failure: Failure


@dataclass(frozen=True, slots=True)
class Ignored:
    """A message of no consequence: an answer that was already taken, a pong, a closed session."""


Event: TypeAlias = (
    SessionOpened
    | SessionRestored
    | SpansHidden
    | ChunksFound
    | StepCompleted
    | StepReplaced
    | StepFailed
    | Ignored
)
