"""Several priors as one: each has a share of the probability."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.lattice.search import Prior

# A share that hardly changes what is likely.
_WORTHLESS = 0.01


class Blend:
    """``parts``: shares, which add up to one, and the priors that have them."""

    def __init__(self, parts: Sequence[tuple[float, Prior]]) -> None:
        self._parts = tuple(parts)

    def after(self, texts: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.float64]:
        """As :meth:`Prior.after`. Raises what its parts raise."""
        found = [np.log(share) + prior.after(texts, tokens) for share, prior in self._parts]
        return np.asarray(np.logaddexp.reduce(found))


def blended(shares: Sequence[float], priors: Sequence[Prior]) -> Blend:
    """``priors`` with their ``shares``; what is worth next to nothing is not run at all."""
    kept = [pair for pair in zip(shares, priors, strict=True) if pair[0] >= _WORTHLESS]
    whole = sum(share for share, _ in kept)
    return Blend([(share / whole, prior) for share, prior in kept])
