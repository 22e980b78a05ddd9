"""The device's own loop over the engine in this process, with the times of a network counted.

What is drafted depends on what steps take. Counted times are the same on every machine, whatever
else it does, and so are the steps.
"""

from __future__ import annotations

from collections.abc import Sequence as Ids
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from scripts.bench.round_trips.clock import CountedClock
from scripts.real.models.in_process import NETWORK, InProcess
from scripts.real.models.ours import Middle
from split_client.chat.drafting import NO_DRAFTS, Drafting
from split_client.generation.constraint import Constraint
from split_client.generation.detokenizer import Decoder
from split_client.generation.loop import Finished, Limits, TokenEvent, decode
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Choice
from split_client.generation.sequence import Sequence


@dataclass(frozen=True, slots=True)
class Counted:
    """One reply: its ``ids``, the ``steps`` that it took, the prompt's included, and of its tokens
    those that were ``drafted`` and ``accepted``, and at which places one was ``forced``.
    """

    ids: list[int]
    steps: int
    drafted: int
    accepted: int
    forced: list[bool]


@dataclass(slots=True)
class _Greedy:
    """Chooses the likeliest allowed token, in place of ``sampling.sampler.Sampler``."""

    table: torch.Tensor
    clock: CountedClock
    head: Any = None
    params: SamplingParams = field(default_factory=SamplingParams)

    def choose(
        self,
        hidden: NDArray[np.float32],
        prompt: Ids[int],  # noqa: ARG002
        generated: Ids[int],  # noqa: ARG002
        draw_index: int,  # noqa: ARG002
        allowed: NDArray[np.bool_] | None = None,
    ) -> Choice:
        """Of the product of all rows of the table."""
        self.clock.pass_by(NETWORK.head)
        logits = self.table @ torch.from_numpy(np.array(hidden))
        if allowed is not None:
            logits = logits.masked_fill(~torch.from_numpy(np.array(allowed)), -torch.inf)
        return Choice(int(logits.argmax()), 1.0)


class CountedDevice:
    """Greedy replies of one device, each in a chat of its own; what steps cost is learned once.

    ``table``: embedding and tied head, float32 [vocabulary, H]; ``end``: the token that ends a
    reply; ``drafting``: none for plain decoding.
    """

    def __init__(
        self,
        middle: Middle,
        table: torch.Tensor,
        decoder: Decoder,
        end: int,
        drafting: Drafting = NO_DRAFTS,
        context: int = 2048,
    ) -> None:
        self._middle, self._table, self._decoder = middle, table, decoder
        self._end, self._drafting, self._context = frozenset({end}), drafting, context
        # Of the machine's own time nothing counts.
        self._clock = CountedClock(lambda: 0.0)

    def reply(self, prompt: list[int], most: int, constraint: Constraint | None = None) -> Counted:
        """At most ``most`` tokens after ``prompt``, which ``constraint`` allows."""
        engine = InProcess(self._middle, self._clock, self._context)
        events = decode(
            Sequence(engine, self._rows, self._part, clock=self._clock),
            _Greedy(self._table, self._clock),  # type: ignore[arg-type]
            self._decoder,
            prompt,
            Limits(self._end, most),
            constraint=constraint,
            drafter=self._drafting.chat().drafter(),
            clock=self._clock,
        )
        return _counted([event for event in events if not isinstance(event, Finished)])

    def _rows(self, ids: list[int]) -> NDArray[np.float32]:
        rows: NDArray[np.float32] = self._table[ids].numpy()
        return rows

    def _part(self, ids: list[int], start: int, stop: int) -> NDArray[np.float32]:
        return self._rows(ids[start:stop])


def _counted(events: list[TokenEvent]) -> Counted:
    return Counted(
        [event.token for event in events],
        sum(event.rows > 0 for event in events),
        sum(event.drafted for event in events),
        sum(event.guessed for event in events),
        [event.forced for event in events],
    )
