"""The sampler's interface to an LM head, however it finds the top k."""

from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from split_client.generation.head.candidates import Interval
from split_client.generation.head.rows import WeightRows

# How the top k are found: by an int8 screen, by a 4-bit shortlist (not proven), from every row.
HeadKind = Literal["exact", "compact", "full"]


class TopLogits(NamedTuple):
    """``ids`` and ``logits`` by (-logit, id); ``also_logits`` in the order that was asked for."""

    ids: NDArray[np.int64]
    logits: NDArray[np.float32]
    also_logits: NDArray[np.float32]


class LMHead(Protocol):
    """A LM head over mapped rows; several threads may use one.

    Every method raises InvalidHiddenState for a bad hidden state [hidden], TokenIdOutOfRange for
    ids without a row and NonFiniteLogits where the logits overflow float32.
    """

    @property
    def rows(self) -> WeightRows:
        """The weights, in the checkpoint's own dtype."""
        ...

    @property
    def screened(self) -> bool:
        """Whether ``top`` is spared most of the rows."""
        ...

    def top(self, hidden: NDArray[np.float32], k: int, also: ArrayLike = ()) -> TopLogits:
        """The top ``k`` rows outside ``also``, and the logits of ``also`` [m]."""
        ...

    def top_and_rest(
        self, hidden: NDArray[np.float32], k: int, temperature: float, also: ArrayLike = ()
    ) -> tuple[TopLogits, Interval] | None:
        """``top``, and bounds of the rest's weight; None where only all logits can tell.

        The weight of the rows that are neither in ``ids`` nor in ``also`` is the sum of their
        exp((logit - first) / temperature), first being the first of the top logits.
        """
        ...

    def logits(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """All logits, float32 [rows], exactly."""
        ...

    def logits_of_states(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """All logits, float32 [n, rows], of several ``states`` [n, hidden], in one product.

        Sums may be added in another order than in ``logits``: the last bits differ.
        """
        ...
