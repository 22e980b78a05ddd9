"""Token ids to the embeddings that travel: table look-up, the family's scale, rounding."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from split_client.generation.errors import NotRepresentable, UnknownFloat
from split_client.generation.head.rows import WeightRows
from split_wire.floats import FLOAT_NAMES, FloatName, round_to


class Embedding:
    """The embedding table of a model.

    ``scale`` is the family's factor (Gemma: sqrt(hidden)), None where there is none;
    ``scale_dtype`` is the dtype the server computes in. A model multiplies in that dtype, so the
    row, the scale and the product are each rounded to it.
    """

    def __init__(
        self, rows: WeightRows, scale: float | None = None, scale_dtype: FloatName = "f32"
    ) -> None:
        if scale_dtype not in FLOAT_NAMES:
            raise UnknownFloat(scale_dtype)
        self.rows = rows
        self._compute = scale_dtype
        self._scale = None if scale is None else round_to(scale_dtype, np.array(scale, np.float32))

    def lookup(self, ids: ArrayLike, wire_dtype: FloatName) -> NDArray[np.float32]:
        """Embeddings [n, hidden] of ``ids`` [n]; ``wire_dtype`` represents every value exactly.

        Raises TokenIdOutOfRange, UnknownFloat, and NotRepresentable where a value overflows.
        """
        if wire_dtype not in FLOAT_NAMES:
            raise UnknownFloat(wire_dtype)
        checked = self.rows.check_ids(ids)
        values = self.rows.take(checked)
        if self._scale is not None:
            with np.errstate(over="ignore"):
                product = round_to(self._compute, values) * self._scale
            values = round_to(self._compute, product)
        rounded = round_to(wire_dtype, values)
        finite = np.isfinite(rounded).all(axis=1)
        if not finite.all():
            raise NotRepresentable(int(checked[~finite][0]), wire_dtype)
        return rounded
