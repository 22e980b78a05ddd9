"""Extraction of an adapter by one who may query it: least squares on what it adds to states.

Such an adapter is one linear map of rank r over states [H]. Each query shows r new numbers about
its r x H unknowns, so about H queries give it away completely, whatever hides it in transit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def extract(states: NDArray[np.float64], added: NDArray[np.float64]) -> NDArray[np.float64]:
    """The map M [H, H] of smallest norm with states @ M.T close to ``added``; both are [n, H]."""
    solution, *_ = np.linalg.lstsq(states, added, rcond=1e-6)
    return np.asarray(solution.T)


def relative_error(
    found: NDArray[np.float64], states: NDArray[np.float64], added: NDArray[np.float64]
) -> float:
    """The error of ``found`` [H, H] on states that it was not made from; 1 is no knowledge."""
    missed = added - states @ found.T
    return float(np.linalg.norm(missed)) / max(float(np.linalg.norm(added)), 1e-300)
