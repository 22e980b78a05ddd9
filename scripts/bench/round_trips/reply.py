"""One scripted reply, timed on the counted clock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scripts.bench.round_trips.clock import CountedClock
from scripts.bench.round_trips.network import Network
from scripts.bench.round_trips.scripted import (
    Script,
    ScriptedBackend,
    ScriptedSampler,
    Traffic,
    embed,
)
from split_client.generation.constraint import Constraint
from split_client.generation.detokenizer import Decoder
from split_client.generation.loop import Finished, Limits, decode
from split_client.generation.sequence import Sequence
from split_client.generation.speculation.drafter import Drafter


@dataclass(frozen=True, slots=True)
class Timed:
    """``seconds`` and ``traffic`` from behind the prompt's own step, which is the same with and
    without drafts, to the end of the reply ``ids``.
    """

    ids: list[int]
    seconds: float
    traffic: Traffic

    @property
    def bytes(self) -> int:
        """Both ways."""
        return self.traffic.up + self.traffic.down


class Chat:
    """Replies over one session; ``drafter`` None: plain decoding."""

    def __init__(self, network: Network, decoder: Decoder, drafter: Drafter | None = None) -> None:
        self._network, self._decoder, self._drafter = network, decoder, drafter
        self._clock = CountedClock()
        self._backend = ScriptedBackend(network, self._clock)
        self._sequence = Sequence(self._backend, embed, embed_rows, clock=self._clock)

    def reply(
        self,
        prompt: list[int],
        script: Script,
        most: int,
        constraint: Callable[[], Constraint] | None = None,
    ) -> Timed:
        """The reply that ``script`` says, at most ``most`` tokens."""
        # What a prompt costs is the same either way, and a draft behind it is a gain.
        self._sequence.cache(prompt[:-1] or prompt)
        told = self._backend.traffic = Traffic()
        sampler = ScriptedSampler(script, self._network, self._clock)
        began = self._clock()
        events = decode(
            self._sequence,
            sampler,  # type: ignore[arg-type]
            self._decoder,
            prompt,
            Limits(frozenset(), most),
            constraint=None if constraint is None else constraint(),
            drafter=self._drafter,
            clock=self._clock,
        )
        ids = [event.token for event in events if not isinstance(event, Finished)]
        return Timed(ids, self._clock() - began, told)


def embed_rows(tokens: list[int], start: int, stop: int) -> NDArray[np.float32]:
    """Rows that are never asked for by name, [stop - start, 2]."""
    return embed(tokens[start:stop])
