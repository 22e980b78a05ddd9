"""One adapter as its folder describes it: ``h + scale * B (A h)`` on the final hidden state.

Low-rank form after Hu et al. 2021 (LoRA), applied to an activation instead of a weight matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_server.adapters.description import Description


@dataclass(frozen=True, eq=False)
class AdapterFile:
    """``a`` [r, H] and ``b`` [H, r], float32, read-only.

    ``base_model_sha256``: of the weights that it was trained on, None when it does not say.
    """

    name: str
    description: str
    rank: int
    hidden_size: int
    scale: float
    a: NDArray[np.float32]
    b: NDArray[np.float32]
    keywords: tuple[str, ...]
    base_model_sha256: str | None
    license: str

    @classmethod
    def of(cls, about: Description, a: NDArray[np.float32], b: NDArray[np.float32]) -> AdapterFile:
        """The adapter that ``about`` makes of the tensors ``a`` and ``b``."""
        return cls(
            about.name,
            about.description,
            about.rank,
            about.hidden_size,
            about.scale,
            a,
            b,
            about.keywords,
            about.base_model_sha256,
            about.license,
        )
