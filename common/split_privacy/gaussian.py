"""The Gaussian mechanism: from (epsilon, delta) to sigma and back.

A release of a vector plus N(0, sigma^2) in every coordinate, where neighbouring inputs differ by at
most ``sensitivity`` in Euclidean norm, is mu-Gaussian differentially private with
mu = sensitivity / sigma (Dong, Roth, Su 2019). It is (epsilon, delta)-differentially private
exactly when

    delta >= Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)

(Balle, Wang 2018, theorem 8). Releases compose: the mu^2 add up.
"""

from __future__ import annotations

import math

from split_privacy.errors import InvalidPrivacyParameter
from split_privacy.normal import cdf, density, mills

# Halvings of an interval: more than a float64 has bits.
_HALVINGS = 200


def classical_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """sensitivity * sqrt(2 ln(1.25 / delta)) / epsilon (Dwork, Roth 2014, theorem A.1).

    Its proof needs epsilon <= 1. Raises InvalidPrivacyParameter.
    """
    _check_epsilon(epsilon)
    _check_delta(delta)
    _check_positive("sensitivity", sensitivity)
    if epsilon > 1.0:
        raise InvalidPrivacyParameter(
            "epsilon", epsilon, "at most 1 in the classical formula; use the analytic one"
        )
    return sensitivity * math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon


def analytic_sigma(epsilon: float, delta: float, sensitivity: float) -> float:
    """The smallest sigma that gives (epsilon, delta) (Balle, Wang 2018).

    Raises InvalidPrivacyParameter.
    """
    _check_positive("sensitivity", sensitivity)
    return sensitivity / mu_of(epsilon, delta)


def mu_of(epsilon: float, delta: float) -> float:
    """The largest mu that gives (epsilon, delta), rounded down.

    Raises InvalidPrivacyParameter.
    """
    _check_epsilon(epsilon)
    _check_delta(delta)
    low, high = 0.0, 1.0
    while delta_of(epsilon, high) <= delta:
        low, high = high, 2.0 * high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if delta_of(epsilon, middle) <= delta else (low, middle)
    return low


def delta_of(epsilon: float, mu: float) -> float:
    """The smallest delta for which mu gives (epsilon, delta). Raises InvalidPrivacyParameter."""
    if not 0.0 <= epsilon < math.inf:
        raise InvalidPrivacyParameter("epsilon", epsilon, "a finite number from 0")
    _check_mu(mu)
    if mu == 0.0:
        return 0.0
    near, far = epsilon / mu - mu / 2.0, epsilon / mu + mu / 2.0
    # e^epsilon density(far) = density(near): neither e^epsilon nor a tail is formed by itself.
    if near >= 0.0:
        return density(near) * max(0.0, mills(near) - mills(far))
    return max(0.0, cdf(-near) - density(near) * mills(far))


def epsilon_of(delta: float, mu: float) -> float:
    """The smallest epsilon for which mu gives (epsilon, delta), rounded up.

    Raises InvalidPrivacyParameter.
    """
    _check_delta(delta)
    _check_mu(mu)
    if delta_of(0.0, mu) <= delta:
        return 0.0
    low, high = 0.0, 1.0
    while delta_of(high, mu) > delta:
        low, high = high, 2.0 * high
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (low, middle) if delta_of(middle, mu) <= delta else (middle, high)
    return high


def _check_epsilon(epsilon: float) -> None:
    _check_positive("epsilon", epsilon)


def _check_delta(delta: float) -> None:
    if not 0.0 < delta < 1.0:
        raise InvalidPrivacyParameter("delta", delta, "between 0 and 1, both excluded")


def _check_mu(mu: float) -> None:
    if not 0.0 <= mu < math.inf:
        raise InvalidPrivacyParameter("mu", mu, "a finite number from 0")


def _check_positive(field: str, value: float) -> None:
    if not 0.0 < value < math.inf:
        raise InvalidPrivacyParameter(field, value, "a finite number above 0")
