"""One prompt, continued on a session of its own: the states that decide its tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.generation.backend import Rows
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from split_client.model.ends import DeviceEnds
from split_server.compat.backend import EngineBackend
from split_server.compat.sequences import LocalSequence
from split_wire.digest import PrefixChain
from split_wire.probe import Probe
from split_wire.tensor import Tensor

# Rows that are in memory at a time.
_ROWS = 512


class AskingBackend(EngineBackend):
    """Asks for what is held before it sends rows, as a device does."""

    def held(self, wanted: Rows, start: int) -> int:
        """Positions that the session holds after what is known of ``wanted`` was taken in.

        Raises UnknownSession, Overloaded, ShuttingDown.
        """
        if len(wanted) <= start:
            return start
        chain = PrefixChain(self._sessions.manifest)
        for at in range(0, len(wanted), _ROWS):
            rows = wanted.part(at, min(at + _ROWS, len(wanted)))
            chain.replace(at, chain.following(at, Tensor.from_f32(rows, self.dtype)))
        asking = self._sessions.restored(self._opened(), start, Probe.of(chain))
        return asyncio.run_coroutine_threadsafe(asking, self._loop).result()


@dataclass(frozen=True, slots=True)
class Continued:
    """``states`` [n, H]: after the prompt and after each token but the last; ``tokens``: what they
    decide; ``reused``: positions of the prompt that were not computed.
    """

    states: NDArray[np.float32]
    tokens: tuple[int, ...]
    reused: int


def continued(
    ends: DeviceEnds,
    backend: EngineBackend,
    prompt: Sequence[int],
    count: int,
    given: Sequence[int] = (),
) -> Continued:
    """Continue ``prompt`` by ``count`` greedy tokens, of which the last is not sent; those that are
    ``given`` are sent in place of what is decided.

    Blocks. Raises what steps raise.
    """
    sampler = Sampler(ends.head, SamplingParams())
    embedder = ends.embedder
    sequence = LocalSequence(backend, lambda ids: embedder.lookup(ids, backend.dtype))
    sent, states, chosen, reused = list(prompt), list[NDArray[np.float32]](), list[int](), 0
    for index in range(count):
        extended = sequence.cache(sent)
        reused += extended.restored
        states.append(extended.hidden)
        chosen.append(sampler.choose(extended.hidden, (), (), 0)[0])
        sent.append(given[index] if index < len(given) else chosen[-1])
    return Continued(np.stack(states), tuple(chosen), reused)
