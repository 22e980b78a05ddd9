"""Several priors as one: each has a share of the probability."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.lattice.search import Prior


class Blend:
    """``parts``: shares, which add up to one, and the priors that have them."""

    def __init__(self, parts: Sequence[tuple[float, Prior]]) -> None:
        self._parts = tuple(parts)

    def after(self, texts: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.float64]:
        """As :meth:`Prior.after`. Raises what its parts raise."""
        found = [np.log(share) + prior.after(texts, tokens) for share, prior in self._parts]
        return np.asarray(np.logaddexp.reduce(found))
