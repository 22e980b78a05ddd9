"""The releases so far: whole numbers of rows per mechanism, from which losses follow."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from split_privacy.accountant import Accountant
from split_privacy.discrete import epsilon_of_release
from split_privacy.mechanism import RowMechanism


@dataclass(frozen=True, slots=True, order=True)
class Kind:
    """Releases that cost the same: noise of ``sigma`` on rows at most ``distance`` apart."""

    sigma: float
    distance: float
    width: int

    @classmethod
    def of(cls, mechanism: RowMechanism) -> Kind:
        """That of a mechanism's rows."""
        return cls(mechanism.sigma, mechanism.distance, mechanism.width)


@dataclass(frozen=True, slots=True)
class Count:
    """``rows`` were released; ``sendings``: in how many of them the same token may have been."""

    rows: int = 0
    sendings: int = 0

    def plus(self, other: Count) -> Count:
        """Both."""
        return Count(self.rows + other.rows, self.sendings + other.sendings)


@dataclass(frozen=True, slots=True)
class Spent:
    """Counts of several kinds, and the loss that they are."""

    counts: tuple[tuple[Kind, Count], ...] = ()

    @classmethod
    def total(cls, parts: Iterable[Spent]) -> Spent:
        """All of them."""
        summed: dict[Kind, Count] = {}
        for part in parts:
            for kind, count in part.counts:
                summed[kind] = summed.get(kind, Count()).plus(count)
        return cls(tuple(sorted(summed.items(), key=lambda item: item[0])))

    def plus(self, kind: Kind, count: Count) -> Spent:
        """After ``count`` more; negative numbers give back."""
        return Spent.total((self, Spent(((kind, count),))))

    @property
    def rows(self) -> int:
        """Released in all."""
        return sum(count.rows for _, count in self.counts)

    @property
    def sendings(self) -> int:
        """The number of times that the same token may have been sent."""
        return sum(count.sendings for _, count in self.counts)

    def epsilon(self, delta: float) -> float:
        """Epsilon when every row is replaced; infinite where nothing is proven."""
        return self._epsilon(delta, self._accountant().whole.mu, lambda count: count.rows)

    def token_epsilon(self, delta: float) -> float:
        """Epsilon when one token is replaced everywhere that it was sent."""
        return self._epsilon(delta, self._accountant().token.mu, lambda count: count.sendings)

    def _accountant(self) -> Accountant:
        accountant = Accountant()
        for kind, count in self.counts:
            accountant.add(kind.distance, kind.sigma, count.rows, carried=count.sendings)
        return accountant

    def _epsilon(self, delta: float, mu: float, replaced: Callable[[Count], int]) -> float:
        values = sum(kind.width * replaced(count) for kind, count in self.counts)
        return epsilon_of_release(delta, mu, values) if values else 0.0


@dataclass(frozen=True, slots=True)
class Budget:
    """At most ``epsilon`` at ``delta`` when everything is replaced."""

    epsilon: float
    delta: float

    def room(self, spent: Spent, kind: Kind, most: int) -> int:
        """The number of rows of ``kind``, of ``most`` further ones, that stay within."""
        low, high = 0, most
        while low < high:
            # The largest number first: mostly there is room for all.
            middle = high if high == most and low == 0 else (low + high + 1) // 2
            if self._allows(spent.plus(kind, Count(middle))):
                low = middle
            else:
                high = middle - 1
        return low

    def _allows(self, spent: Spent) -> bool:
        epsilon = spent.epsilon(self.delta)
        return math.isfinite(epsilon) and epsilon <= self.epsilon
