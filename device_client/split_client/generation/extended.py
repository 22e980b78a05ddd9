"""What making a cache hold some tokens gave, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.generation.backend import StepOutput
from split_client.generation.spared import NOTHING_SPARED, Spared
from split_wire.attention import AttentionWeights
from split_wire.tiers import ALL_EXACT, Inexact


@dataclass(slots=True)
class SequenceCounters:
    """What one sequence cost so far."""

    steps: int = 0
    rows_sent: int = 0
    rows_reused: int = 0
    rows_restored: int = 0
    resends: int = 0
    rows_moved: int = 0
    edits_refused: int = 0


@dataclass(frozen=True, slots=True)
class Extended:
    """``states`` float32 [rows asked for, H] after each of the last tokens, ``hidden`` float32 [H]
    after the last one.

    ``rows`` were sent. Times in seconds; ``exchange`` is the wait for the server, compute and queue
    included. ``attention``: what the last token attends to, where it was asked for; ``restored``:
    rows that were not sent because the backend had kept them, or not computed because it knew them;
    ``spared``: these and those that the session held, and what that saved; ``tiers``: which
    positions of the cache are not exact.
    """

    hidden: NDArray[np.float32]
    states: NDArray[np.float32]
    rows: int
    exchange: float
    compute: float
    queue: float
    attention: AttentionWeights | None = None
    restored: int = 0
    spared: Spared = NOTHING_SPARED
    tiers: Inexact = ALL_EXACT

    @property
    def wire(self) -> float:
        """Everything between the ends: transport and the server's own overhead."""
        return max(0.0, self.exchange - self.compute - self.queue)


def joined(outputs: list[StepOutput], rows: int, wanted: int) -> Extended:
    """What the steps that sent ``rows`` gave, of whose states the last ``wanted`` matter."""
    last = outputs[-1]
    if len(last.hidden) >= wanted:
        states = last.hidden[-wanted:]
    else:
        states = np.concatenate([output.hidden for output in outputs])[-wanted:]
    return Extended(
        states[-1],
        states,
        rows,
        sum(output.exchange_us for output in outputs) / 1e6,
        sum(output.compute_us for output in outputs) / 1e6,
        sum(output.queue_us for output in outputs) / 1e6,
        last.attention,
        sum(output.reused for output in outputs),
        tiers=last.tiers,
    )
