"""A family's treatment of the product of hidden state and LM head rows, as data."""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from split_client.generation.errors import InvalidHeadSpec

# Room for the float32 roundings of `finish`: a few units of 2^-24 each, and underflow.
_SLACK: Final = 2.0**-20
_UNDERFLOW: Final = 2.0**-80
# Keeps scaled logits far from float32's underflow; families use 1/16 to 50.
_SMALLEST, _LARGEST = 2.0**-20, 2.0**20


@dataclass(frozen=True, slots=True, eq=False)
class HeadSpec:
    """logit = cap(scaled(row . hidden + bias)), in float32.

    ``bias``: float32 [vocab] (Phi). ``scale``: a positive factor (Cohere ``logit_scale``), or with
    ``divide`` a positive divisor (Granite ``logits_scaling``): x / s and x * (1 / s) round
    differently. ``softcap``: c * tanh(x / c) (Gemma 2 and 3). Raises InvalidHeadSpec.
    """

    bias: NDArray[np.float32] | None = None
    softcap: float | None = None
    scale: float = 1.0
    divide: bool = False

    def __post_init__(self) -> None:
        for name, value in (("scale", self.scale), ("softcap", self.softcap)):
            if value is not None and not _SMALLEST <= value <= _LARGEST:
                raise InvalidHeadSpec(f"{name} {value} is not in 2^-20..2^20")
        if self.bias is not None and not np.isfinite(self.bias).all():
            raise InvalidHeadSpec("bias holds NaN or infinity")

    def check_rows(self, rows: int) -> None:
        """Raises InvalidHeadSpec when the bias does not have one value per row."""
        if self.bias is not None and self.bias.shape != (rows,):
            raise InvalidHeadSpec(f"bias of shape {self.bias.shape} for {rows} rows")

    def finish(
        self, products: NDArray[np.float32], ids: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """Logits from ``products`` (row . hidden) of the rows ``ids``; None: of all, in order."""
        return self.finish_biased(self.biased(products, ids))

    def biased(
        self, products: NDArray[np.float32], ids: NDArray[np.int64] | None = None
    ) -> NDArray[np.float32]:
        """``products`` plus the bias of their rows."""
        if self.bias is None:
            return products
        return products + (self.bias if ids is None else self.bias[ids])

    def finish_biased(self, biased: NDArray[np.float32]) -> NDArray[np.float32]:
        """Logits from row . hidden + bias: scale, then cap. Does not decrease."""
        logits = biased
        if self.scale != 1.0:
            scale = np.float32(self.scale)
            logits = logits / scale if self.divide else logits * scale
        if self.softcap is not None:
            cap = np.float32(self.softcap)
            logits = np.tanh(logits / cap) * cap
        return logits

    def lowest_rival(self, biased: float) -> float:
        """The lowest row . hidden + bias whose logit can round to that of ``biased`` or higher.

        ``finish`` does not decrease, but float32 rounding (and a saturated tanh) maps neighbours to
        one logit, and equal logits rank by id: whoever keeps rows above ``biased`` keeps these too.
        """
        floor = biased - abs(biased) * _SLACK - _UNDERFLOW
        if self.softcap is None or not math.isfinite(floor):
            return floor
        factor = 1.0 / self.scale if self.divide else self.scale
        capped = math.tanh(floor * factor / self.softcap)
        capped -= abs(capped) * _SLACK
        if capped <= -1.0:
            return -math.inf
        return min(floor, math.atanh(capped) * self.softcap / factor)
