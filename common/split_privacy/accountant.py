"""The joint privacy loss of several Gaussian releases, for one token and for everything.

The squares of mu = sensitivity / sigma add up, also when later inputs depend on earlier outputs
(Dong, Roth, Su 2019, corollary 2, with the number of releases and their mu fixed before). Where
these too depend on what was released, stopping before the sum exceeds a bound fixed in advance
makes everything together as private as one release at that bound: a privacy filter (Smith,
Thakurta 2022, "Fully Adaptive Composition for Gaussian Differential Privacy"). A sum that is read
at the end, without such a bound, holds for the number of releases taken as given.

Two units are counted side by side, because an epsilon without its unit says nothing:

- ``token``: one token is replaced by any other, everywhere that this token was sent.
- ``whole``: every token that was sent is replaced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from split_privacy.errors import InvalidPrivacyParameter
from split_privacy.gaussian import delta_of, epsilon_of


@dataclass(frozen=True, slots=True)
class Loss:
    """A privacy loss in one unit: ``squared`` is the sum of mu^2."""

    squared: float = 0.0

    @property
    def mu(self) -> float:
        """The mu of the one Gaussian release that all of them amount to."""
        return math.sqrt(self.squared)

    def epsilon(self, delta: float) -> float:
        """The smallest epsilon at ``delta``. Raises InvalidPrivacyParameter."""
        return epsilon_of(delta, self.mu)

    def delta(self, epsilon: float) -> float:
        """The smallest delta at ``epsilon``. Raises InvalidPrivacyParameter."""
        return delta_of(epsilon, self.mu)


class Accountant:
    """Adds up releases of rows, one token each, with any sensitivities and sigmas."""

    def __init__(self, token: Loss = Loss(), whole: Loss = Loss()) -> None:
        self.token, self.whole = token, whole

    @property
    def mu(self) -> float:
        """mu when everything is replaced."""
        return self.whole.mu

    def epsilon(self, delta: float) -> float:
        """epsilon when everything is replaced. Raises InvalidPrivacyParameter."""
        return self.whole.epsilon(delta)

    def add(self, sensitivity: float, sigma: float, count: int = 1, *, carried: int = 1) -> None:
        """Count ``count`` rows, of which at most ``carried`` show the same token.

        ``sensitivity``: the largest Euclidean distance between two rows before noise. A prompt
        shows each of its tokens once; the rows of a token that is already counted, sent on in a
        longer text, are other tokens (``carried=0``). Raises InvalidPrivacyParameter.
        """
        for name, value in (("sensitivity", sensitivity), ("sigma", sigma)):
            if not 0.0 < value < math.inf:
                raise InvalidPrivacyParameter(name, value, "a finite number above 0")
        if count < 0 or carried < 0:
            raise InvalidPrivacyParameter("count", count, "0 or more, and so is carried")
        squared = (sensitivity / sigma) ** 2
        self.token = Loss(self.token.squared + min(carried, count) * squared)
        self.whole = Loss(self.whole.squared + count * squared)
