"""Products of weight rows with a hidden state, the same float32 bits for a row however it is read.

Rows are widened block by block from the mapped weights and multiplied by one BLAS routine.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_client.generation.errors import InvalidHiddenState, NonFiniteLogits
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec

# Weights multiplied at once: they stay in cache, and BLAS libraries compute so few on the calling
# thread (OpenBLAS shares a product from 460,800 on, and then waits for the slowest core).
_AT_ONCE: Final = 2**18
# BLAS kernels take rows in groups; whole groups make a row's sum independent of its neighbours.
_ROW_GROUP: Final = 16


class RowProducts:
    """Products of ``rows``, and the logits that ``spec`` makes of them."""

    def __init__(self, rows: WeightRows, spec: HeadSpec) -> None:
        self._rows = rows
        self._spec = spec
        self._block = max(_ROW_GROUP, _AT_ONCE // rows.hidden // _ROW_GROUP * _ROW_GROUP)

    def checked(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """``hidden`` as finite float32 [hidden]. Raises InvalidHiddenState."""
        if hidden.shape != (self._rows.hidden,):
            raise InvalidHiddenState(f"shape {hidden.shape}, not ({self._rows.hidden},)")
        if not np.isfinite(hidden).all():
            raise InvalidHiddenState("it holds NaN or infinity")
        return np.ascontiguousarray(hidden, dtype=np.float32)

    def of(self, ids: NDArray[np.int64], hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """row . hidden, float32 [n], of the rows ``ids`` [n]."""
        products = np.empty(ids.size, np.float32)
        for start in range(0, ids.size, self._block):
            part = ids[start : start + self._block]
            products[start : start + part.size] = _multiply(self._rows.take(part), hidden)
        return products

    def of_all(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """row . hidden, float32 [rows], of every row."""
        products = np.empty(self._rows.rows, np.float32)
        for start, block in self._rows.blocks(self._block):
            products[start : start + len(block)] = _multiply(block, hidden)
        return products

    def of_all_states(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """row . state, float32 [n, rows], of every row and the ``states`` [n, hidden].

        One look at the weights for all; last bits may differ from those of :meth:`of_all`.
        """
        products = np.empty((len(states), self._rows.rows), np.float32)
        columns = np.ascontiguousarray(states.T)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for start, block in self._rows.blocks(self._block):
                products[:, start : start + len(block)] = (block @ columns).T
        return products

    def finished(
        self, products: NDArray[np.float32], ids: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """Logits from the products of ``ids``; None: of all rows. Raises NonFiniteLogits."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            logits = self._spec.finish(products, ids)
        finite = np.isfinite(logits)
        if not finite.all():
            first = int(np.argmin(finite))
            raise NonFiniteLogits(first if ids is None else int(ids[first]))
        return logits

    def logits_of(self, ids: NDArray[np.int64], hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logits, float32 [n], of the rows ``ids`` [n]. Raises NonFiniteLogits."""
        return self.finished(self.of(ids, hidden), ids)


def _multiply(block: NDArray[np.float32], hidden: NDArray[np.float32]) -> NDArray[np.float32]:
    rows = len(block)
    short = -rows % _ROW_GROUP
    if short:
        block = np.concatenate([block, np.zeros((short, block.shape[1]), np.float32)])
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        product: NDArray[np.float32] = (block @ hidden)[:rows]
    return product
