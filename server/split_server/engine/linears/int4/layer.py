"""Linear layers with weights of four bits: a quarter of bfloat16's bytes and a little more."""

from __future__ import annotations

import torch

from split_server.engine.linears.int4 import unpacked
from split_server.engine.linears.int4.matrix import Int4Matrix

# Above so many rows unpacking pays: measured with shape m, where both ways take as long.
MANY_ROWS = 64


class Int4Linear(torch.nn.Module):
    """About ``x @ weight.T + bias``. The packed matrix can be neither copied nor moved.

    ``order`` [in]: the columns of ``x`` in the order of the matrix's, None where that is the same.
    Up to MANY_ROWS rows the result of a row does not depend on the others.
    """

    def __init__(
        self,
        matrix: Int4Matrix,
        bias: torch.nn.Parameter | None = None,
        order: torch.Tensor | None = None,
    ) -> None:
        super().__init__()
        self.out_features, self.in_features = matrix.rows, matrix.columns
        self.bias = bias
        self._matrix, self._order = matrix, order
        self._layout = unpacked.known_layout()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., in] to [..., out] in the dtype of ``x``, which is that of the scales."""
        rows = x.reshape(-1, self.in_features)
        if self._order is not None:
            rows = rows[:, self._order]
        if self._layout and len(rows) > MANY_ROWS:
            found = unpacked.product(self._matrix, self._layout, rows)
        else:
            found = self._matrix.product(rows)
        if self.bias is not None:
            found = found + self.bias
        return found.view(*x.shape[:-1], self.out_features)
