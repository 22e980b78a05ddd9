"""A lower bound on epsilon from how well two neighbouring inputs can be told apart.

Two bounds hold with the same confidence:

- without assumptions: an (epsilon, delta) mechanism obeys TPR <= e^epsilon FPR + delta for every
  test, in both directions (Kairouz, Oh, Viswanath 2015);
- against the claimed family: a mu-Gaussian mechanism obeys
  Phi^-1(1 - FPR) - Phi^-1(1 - TPR) <= mu for every test (Dong, Roth, Su 2019), which needs far
  fewer releases (Nasr et al. 2023, "Tight Auditing of Differentially Private Machine Learning").

The threshold is chosen on one half of the releases and judged on the other, so that looking for
the best one costs no confidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from split_client.audit.scoring.proportions import lower, upper
from split_privacy.gaussian import epsilon_of

# Of one run's verdict; shared by two directions and two bounds in each.
CONFIDENCE = 0.999
_ALPHA = (1 - CONFIDENCE) / 4
_TRIED = 200


@dataclass(frozen=True, slots=True)
class Verdict:
    """Lower bounds at ``delta`` beside the claims; ``releases`` of each of the two inputs."""

    releases: int
    delta: float
    epsilon_claimed: float
    mu_claimed: float
    epsilon_bound: float
    mu_bound: float

    @property
    def epsilon_bound_gaussian(self) -> float:
        """The epsilon at ``delta`` of the smallest mu that explains the game."""
        return epsilon_of(self.delta, self.mu_bound) if self.mu_bound > 0 else 0.0

    @property
    def holds(self) -> bool:
        """Whether the claim survives."""
        return self.epsilon_bound <= self.epsilon_claimed and self.mu_bound <= self.mu_claimed


def judge(
    ratios: NDArray[np.float64],
    neighbours: NDArray[np.float64],
    claimed: tuple[float, float],
    delta: float,
) -> Verdict:
    """Bounds from log-likelihood ratios of releases of an input and of its neighbour.

    ``claimed``: epsilon and mu. High ratios speak for the input.
    """
    half = len(ratios) // 2
    bounds = [
        _one_way(ratios[:half], neighbours[:half], ratios[half:], neighbours[half:], delta),
        _one_way(-neighbours[:half], -ratios[:half], -neighbours[half:], -ratios[half:], delta),
    ]
    epsilon, mu = (max(bound[index] for bound in bounds) for index in (0, 1))
    return Verdict(len(ratios), delta, claimed[0], claimed[1], epsilon, mu)


def _one_way(
    tuned_for: NDArray[np.float64],
    tuned_against: NDArray[np.float64],
    judged_for: NDArray[np.float64],
    judged_against: NDArray[np.float64],
    delta: float,
) -> tuple[float, float]:
    """Bounds on epsilon and mu, each with the threshold that serves it best on the tuning half."""
    pooled = np.concatenate([tuned_for, tuned_against])
    thresholds = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, _TRIED)))
    epsilons, mus = _promising(tuned_for, tuned_against, thresholds, delta)
    epsilon_at, mu_at = thresholds[np.argmax(epsilons)], thresholds[np.argmax(mus)]
    epsilon = _bounds(judged_for, judged_against, float(epsilon_at), delta)[0]
    mu = _bounds(judged_for, judged_against, float(mu_at), delta)[1]
    return max(0.0, epsilon), max(0.0, mu)


def _promising(
    samples: NDArray[np.float64],
    others: NDArray[np.float64],
    thresholds: NDArray[np.float64],
    delta: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rough bounds at all ``thresholds``, only to choose among them: three standard errors off."""
    count = len(samples)
    above = [(group[None, :] >= thresholds[:, None]).sum(axis=1) for group in (samples, others)]
    errors = [3 * np.sqrt((k + 1) * (count - k + 1) / count) for k in above]
    least = np.clip((above[0] - errors[0]) / count, 1e-9, 1 - 1e-9)
    most = np.clip((above[1] + errors[1]) / count, 1e-9, 1 - 1e-9)
    normal = NormalDist()
    pairs = zip(least, most, strict=True)
    mus = [normal.inv_cdf(float(true)) - normal.inv_cdf(float(false)) for true, false in pairs]
    return np.log(np.maximum(least - delta, 1e-12) / most), np.array(mus)


def _bounds(
    samples: NDArray[np.float64], others: NDArray[np.float64], threshold: float, delta: float
) -> tuple[float, float]:
    true_positives = lower(int((samples >= threshold).sum()), len(samples), _ALPHA)
    false_positives = upper(int((others >= threshold).sum()), len(others), _ALPHA)
    gain = true_positives - delta
    epsilon = math.log(gain / false_positives) if gain > 0 else -math.inf
    if true_positives <= 0.0 or false_positives >= 1.0:
        return epsilon, -math.inf
    normal = NormalDist()
    return epsilon, normal.inv_cdf(true_positives) - normal.inv_cdf(false_positives)
