"""A model that writes what a script says: sessions and a choice of tokens, both checked.

A state tells which tokens lie before it (a checksum of their ids), and the choice refuses one that
is not of exactly the tokens so far: a state taken too early or too late ends the benchmark.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.bench.round_trips.clock import CountedClock
from scripts.bench.round_trips.network import Network
from split_client.generation.backend import Rows, StepOutput
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Choice
from split_wire.attention import AttentionRequest
from split_wire.tensor import WireDtype

WIDTH = 2
_HALF = 1 << 16

# The reply so far, and which tokens are allowed (None: all) -> the next token.
Script = Callable[[Sequence[int], NDArray[np.bool_] | None], int]


def embed(ids: list[int]) -> NDArray[np.float32]:
    """A row that tells its id, [n, 2]."""
    return np.array([(token % _HALF, token // _HALF) for token in ids], np.float32).reshape(-1, 2)


def state(tokens: Sequence[int]) -> NDArray[np.float32]:
    """The state after ``tokens``, [2]: their checksum in two exact numbers."""
    return _parts(_checksum(tokens, 0))


@dataclass(slots=True)
class Traffic:
    """Of one reply: steps, rows that went up, states that came down, bytes of both."""

    steps: int = 0
    rows: int = 0
    states: int = 0
    up: int = 0
    down: int = 0


@dataclass(slots=True)
class ScriptedBackend:
    """One session over ``network``; implements ``generation.backend.Backend``."""

    network: Network
    clock: CountedClock
    max_context: int = 1 << 20
    max_rows: int = 512
    interactive_rows: int = 16
    dtype: WireDtype = "f16"
    traffic: Traffic = field(default_factory=Traffic)
    _sums: list[int] = field(default_factory=lambda: [0])

    def open(self, wanted: Rows | None = None) -> None:
        """There is one session, and it is open."""

    def held(self, wanted: Rows, start: int) -> int:  # noqa: ARG002
        """Nothing was kept."""
        return start

    def step(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,  # noqa: ARG002
        adapter: str | None = None,  # noqa: ARG002
        rows: int = 1,
    ) -> StepOutput:
        """Keep ``start`` positions and append the rows; the states after the last ``rows``."""
        del self._sums[start + 1 :]
        for low, high in embeddings:
            self._sums.append(_next(self._sums[-1], int(low) + _HALF * int(high)))
        sent, told = len(embeddings), self.traffic
        told.steps, told.rows, told.states = told.steps + 1, told.rows + sent, told.states + rows
        told.up += self.network.up_bytes(sent)
        told.down += self.network.down_bytes(rows)
        seconds = self.network.exchange(sent, rows)
        self.clock.pass_by(seconds)
        states = np.stack([_parts(each) for each in self._sums[-rows:]])
        compute = round(1e6 * self.network.compute(sent))
        return StepOutput(states, compute, 0, round(1e6 * seconds))

    def close(self) -> None:
        """Nothing is held elsewhere."""


class ScriptedSampler:
    """Chooses what ``script`` says, in place of ``sampling.sampler.Sampler``."""

    head: Any = None
    params = SamplingParams()

    def __init__(self, script: Script, network: Network, clock: CountedClock) -> None:
        self._script, self._network, self._clock = script, network, clock
        self._prompt: tuple[int, int] = (-1, 0)
        self._generated: tuple[int, int] = (0, 0)
        self.asked = 0

    def choose(
        self,
        hidden: NDArray[np.float32],
        prompt: Sequence[int],
        generated: Sequence[int],
        draw_index: int,
        allowed: NDArray[np.bool_] | None = None,
    ) -> Choice:
        """The next token of the script. Raises RuntimeError for a state of other tokens."""
        self.asked += 1
        self._clock.pass_by(self._network.head)
        if draw_index != len(generated):
            raise RuntimeError(f"draw {draw_index} for token {len(generated)}")
        if not np.array_equal(hidden, _parts(self._sum(prompt, generated))):
            raise RuntimeError(f"the state for token {len(generated)} is of other tokens")
        return Choice(self._script(generated, allowed), 1.0)

    def _sum(self, prompt: Sequence[int], generated: Sequence[int]) -> int:
        if self._prompt[0] != len(prompt):
            self._prompt = len(prompt), _checksum(prompt, 0)
            self._generated = 0, self._prompt[1]
        done, value = self._generated
        self._generated = len(generated), _checksum(generated[done:], value)
        return self._generated[1]


def _checksum(tokens: Sequence[int], value: int) -> int:
    for token in tokens:
        value = _next(value, token)
    return value


def _next(value: int, token: int) -> int:
    return zlib.crc32(token.to_bytes(4, "little"), value)


def _parts(value: int) -> NDArray[np.float32]:
    return np.array([value % _HALF, value // _HALF], np.float32)
