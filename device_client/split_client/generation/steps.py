"""The steps that make a cache hold some tokens: one after the other, or several under way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from split_client.generation.backend import Backend, OnlyAllRows, StepOutput
from split_client.generation.held import Held
from split_wire.attention import AttentionRequest

RowsOf = Callable[[int, int], NDArray[np.float32]]
Embed = Callable[[list[int]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Known:
    """The rows of the first ``end`` of ``tokens``; the last of them is always sent."""

    tokens: list[int]
    embed: Embed
    end: int

    def __len__(self) -> int:
        return self.end

    def part(self, start: int, stop: int) -> NDArray[np.float32]:
        return self.embed(self.tokens[start:stop])


@runtime_checkable
class Pipelined(Protocol):
    """A backend whose next step may be sent before the one before it is answered."""

    @property
    def most_under_way(self) -> int:
        """Steps that pay to have under way at this time, at least 1."""

    def begin(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> None:
        """Send a step, as :meth:`Backend.step`; while others are under way, ``start`` is where they
        end. The session is open. Raises as :meth:`Backend.step`.
        """

    def settle(self) -> StepOutput:
        """The answer to the oldest step that was begun; where a later answer alone showed that it
        went through, there are no states in it. Raises as :meth:`Backend.step`.
        """


class OneByOne:
    """Any other backend as such a one."""

    most_under_way = 1

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._outputs: deque[StepOutput] = deque()

    def begin(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: AttentionRequest | None = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> None:
        """Take the step."""
        self._outputs.clear()
        self._outputs.append(self._backend.step(start, embeddings, attention, adapter, rows))

    def settle(self) -> StepOutput:
        """What the step gave."""
        return self._outputs.popleft()


@dataclass(frozen=True, slots=True)
class Part:
    """The tokens from ``start`` to ``end``; the states of the last ``rows`` come back."""

    start: int
    end: int
    attention: AttentionRequest | None
    rows: int

    def before_last_rows(self) -> list[Part]:
        """The same as two steps, of which the second asks for all of its states."""
        middle = self.end - self.rows
        return [Part(self.start, middle, None, 1), replace(self, start=middle)]


def parts(
    start: int, end: int, most: int, wanted: int, attention: AttentionRequest | None
) -> list[Part]:
    """The tokens from ``start`` to ``end`` in steps of at most ``most``; the states of the last
    ``wanted`` come back, and the ``attention`` of the last one.
    """
    made = []
    for first in range(start, end, most):
        stop = min(end, first + most)
        rows = max(1, stop - max(first, end - wanted))
        made.append(Part(first, stop, attention if stop == end else None, rows))
    return made


def run(
    backend: Pipelined,
    held: Held,
    tokens: list[int],
    wanted: list[Part],
    rows: RowsOf,
    adapter: str | None,
    ahead: bool,
) -> Iterator[tuple[Part, StepOutput]]:
    """Send the parts of ``tokens`` in turn, ``rows`` by ``rows``, and yield what each gave.

    ``ahead``: a part may be sent before the one before it is answered. One whose states matter is
    always answered first: of an earlier one a server may no longer have any. Raises as
    :meth:`Backend.step`.
    """
    waiting, under_way = deque(wanted), deque[Part]()
    while waiting or under_way:
        most = backend.most_under_way if ahead else 1
        while waiting and len(under_way) < most:
            part = waiting.popleft()
            held.begin(part.start, tokens[part.start : part.end])
            try:
                embeddings = rows(part.start, part.end)
                backend.begin(part.start, embeddings, part.attention, adapter, part.rows)
            except OnlyAllRows:
                held.not_begun()
                waiting.extendleft(reversed(part.before_last_rows()))
                continue
            under_way.append(part)
        output = backend.settle()
        part = under_way.popleft()
        held.done(part.rows - 1)
        yield part, output
