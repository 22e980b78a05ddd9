"""The search: texts grown token by token, of which those that go on alike are followed as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.lattice.field import Field
from split_client.audit.attacks.lattice.weighed import Grown, Lattice, sums_of
from split_client.audit.attacks.ngram.counting import hashed

# Texts so many nats lighter than the heaviest hardly matter, and beyond so many for each that is
# followed none does.
_HOPELESS, _BRANCHES = 14.0, 48


class Prior(Protocol):
    """What may follow texts."""

    def after(self, texts: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log probabilities of ``tokens`` [k] after each of ``texts`` [n, length], [n, k]."""


@dataclass(frozen=True, slots=True)
class Breadth:
    """``width``: texts that are followed at a time; ``memory``: texts that are the same in so many
    last tokens go on as one.
    """

    width: int
    memory: int


def search(field: Field, prior: Prior, lead: tuple[int, ...], breadth: Breadth) -> Lattice:
    """Texts behind ``lead`` that ``field`` leaves possible, weighed by rows and ``prior``."""
    texts, weights = np.array([lead], np.int64), np.zeros(1)
    grown: list[Grown] = []
    for tokens, evidence, ahead in zip(field.tokens, field.evidence, field.ahead, strict=True):
        added = prior.after(texts, tokens) + evidence[None, :]
        whole = weights[:, None] + added
        parents, columns = _worth_it(whole + ahead[None, :], breadth.width)
        step = _merged(
            np.column_stack([texts[parents], tokens[columns]]),
            Grown(parents, parents, added[parents, columns], tokens[columns]),
            whole[parents, columns],
            ahead[columns],
            breadth,
        )
        texts, weights = step.texts, step.weights
        grown.append(step.grown)
    return Lattice(tuple(grown))


@dataclass(frozen=True, slots=True)
class _Step:
    texts: NDArray[np.int64]
    weights: NDArray[np.float64]
    grown: Grown


def _worth_it(
    guide: NDArray[np.float64], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and columns of the highest of ``guide`` [texts, k]."""
    flat = guide.ravel()
    near = np.flatnonzero(flat >= flat.max() - _HOPELESS)
    most = _BRANCHES * width
    if len(near) > most:
        near = np.sort(near[np.argpartition(-flat[near], most)[:most]])
    rows, columns = np.divmod(near, guide.shape[1])
    return rows, columns


def _merged(
    texts: NDArray[np.int64],
    grown: Grown,
    whole: NDArray[np.float64],
    ahead: NDArray[np.float64],
    breadth: Breadth,
) -> _Step:
    """Children that are the same in their last tokens as one, the heaviest of them kept."""
    names = hashed(texts[:, -breadth.memory :])
    _, first, child = np.unique(names, return_index=True, return_inverse=True)
    weights = sums_of(whole, child, len(first))
    kept = np.argsort(-(weights + ahead[first]), kind="stable")[: breadth.width]
    place = np.full(len(first), -1)
    place[kept] = np.arange(len(kept))
    edges = np.flatnonzero(place[child] >= 0)
    child = place[child[edges]]
    heaviest = _heaviest(whole[edges], child, len(kept))
    return _Step(
        texts[edges][heaviest],
        weights[kept],
        Grown(grown.parents[edges], child, grown.added[edges], grown.tokens[edges][heaviest]),
    )


def _heaviest(
    whole: NDArray[np.float64], child: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    """The index of the heaviest edge of each child."""
    order = np.lexsort((-whole, child))
    return order[np.searchsorted(child[order], np.arange(count))]
