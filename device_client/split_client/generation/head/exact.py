"""The LM head on the device: the top k logits of a hidden state, exactly.

Exact means: with z_r = float32(row r . hidden) for every row, ``top`` returns the first k by
(-logit, id) of ``HeadSpec.finish(z)``. The screen proves which rows can be among them whatever the
order of summation in z_r; those rows alone are read from the mapped weights and multiplied by the
same BLAS routine as a full product. So the ids are those of the full float32 computation; only
where two logits differ by less than the float32 rounding of their own sums can another BLAS (or
another order of summation) rank the two the other way round.
"""

import logging
import threading
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from split_client.generation.errors import ScreenDamaged
from split_client.generation.head.candidates import Interval, candidates, rest_weight
from split_client.generation.head.derived_file import file_digest
from split_client.generation.head.head import TopLogits
from split_client.generation.head.int8_matmul import MAX_HIDDEN, integer_products, preferred_tile
from split_client.generation.head.onnx_session import default_threads, onnxruntime_available
from split_client.generation.head.ranking import rank, rank_all
from split_client.generation.head.row_products import RowProducts
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.screen.bounds import Bounds, Screen
from split_client.generation.head.screen.build import build_screen
from split_client.generation.head.screen.file import ScreenShape, ScreenTables, read_screen
from split_client.generation.head.spec import HeadSpec

_LOG: Final = logging.getLogger(__name__)
# Below this many weights a full product costs less than a screen.
_SCREENED_FROM: Final = 4_000_000


class ExactLMHead:
    """LM head over mapped rows; several threads may use one.

    Without a screen every call is a full product in blocks: the same results, slower.
    """

    def __init__(self, rows: WeightRows, spec: HeadSpec, screen: Screen | None = None) -> None:
        spec.check_rows(rows.rows)
        self.rows = rows
        self.spec = spec
        self._products = RowProducts(rows, spec)
        self._screen = screen
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls,
        rows: WeightRows,
        spec: HeadSpec | None = None,
        *,
        screen_path: Path | None = None,
        source: bytes | None = None,
        threads: int | None = None,
    ) -> Self:
        """The head of ``rows``, with its screen read from ``screen_path`` or derived to there.

        ``source``: SHA-256 of the weight file where it is known, else it is computed. ``threads``:
        of the screen, default min(2, cores). No screen: small matrix, no path, no onnxruntime, or a
        path that cannot be written (logged). Raises InvalidHeadSpec, WeightsNotFinite.
        """
        spec = spec or HeadSpec()
        spec.check_rows(rows.rows)
        tables = None
        if screen_path is not None and _worth_a_screen(rows) and onnxruntime_available():
            tables = _tables(rows, screen_path, source or file_digest(rows.path))
        if tables is None:
            return cls(rows, spec)
        products = integer_products(tables.matrix, threads or default_threads())
        return cls(rows, spec, Screen(tables, products, spec.bias))

    @property
    def screened(self) -> bool:
        """Whether a screen spares most of the rows."""
        return self._screen is not None

    def top(self, hidden: NDArray[np.float32], k: int, also: ArrayLike = ()) -> TopLogits:
        """The top ``k`` rows outside ``also``, and the logits of ``also`` [m], for hidden [hidden].

        Raises InvalidHiddenState, TokenIdOutOfRange, NonFiniteLogits.
        """
        hidden = self._products.checked(hidden)
        also_ids = self.rows.check_ids(also)
        k = max(0, min(k, self.rows.rows - np.unique(also_ids).size))
        if not k and also_ids.size < self.rows.rows:
            none = np.empty(0, np.int64), np.empty(0, np.float32)
            return TopLogits(*none, self._products.logits_of(also_ids, hidden))
        found = self._screened(hidden, k, also_ids) if k else None
        if found is not None:
            return found[0]
        logits = self.logits(hidden)
        also_logits = logits[also_ids]
        logits[also_ids] = -np.inf
        return TopLogits(*rank_all(logits, k), also_logits)

    def top_and_rest(
        self, hidden: NDArray[np.float32], k: int, temperature: float, also: ArrayLike = ()
    ) -> tuple[TopLogits, Interval] | None:
        """``top``, and bounds of the rest's weight; None where only all logits can tell.

        The weight of the rows that are neither in ``ids`` nor in ``also`` is the sum of their
        exp((logit - first) / temperature), first being the first of the top logits.
        """
        hidden = self._products.checked(hidden)
        also_ids = self.rows.check_ids(also)
        if not 0 < k < self.rows.rows - also_ids.size:
            return None
        return self._screened(hidden, k, also_ids, temperature)

    def logits(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """All logits, float32 [rows]. Raises InvalidHiddenState, NonFiniteLogits."""
        hidden = self._products.checked(hidden)
        return self._products.finished(self._products.of_all(hidden))

    def logits_of_states(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """As :meth:`LMHead.logits_of_states`."""
        checked = np.stack([self._products.checked(state) for state in states])
        products = self._products.of_all_states(checked)
        return np.stack([self._products.finished(each) for each in products])

    def _screened(
        self,
        hidden: NDArray[np.float32],
        k: int,
        also: NDArray[np.int64],
        temperature: float | None = None,
    ) -> tuple[TopLogits, Interval] | None:
        screen = self._screen
        if screen is None:
            return None
        with self._lock:
            bounds = screen.bounds(hidden)
            ids = candidates(bounds, self.rows.rows, k, also, self.spec)
            products = self._products.of(ids, hidden)
            if not self._inside(products, ids, bounds):
                return None
            ranked = rank(ids, self._products.finished(products, ids))
            rest = Interval(0.0, np.inf)
            if temperature is not None:
                rest = rest_weight(bounds, *ranked, k, self.spec, temperature)
        top = TopLogits(ranked[0][:k], ranked[1][:k], self._products.logits_of(also, hidden))
        return top, rest

    def _inside(
        self, products: NDArray[np.float32], ids: NDArray[np.int64], bounds: Bounds
    ) -> bool:
        """Whether exact products lie in their bounds; a screen that fails is not used again."""
        biased = self.spec.biased(products, ids)
        if (biased < bounds.lower[ids]).any() or (biased > bounds.upper[ids]).any():
            _LOG.error("the LM head's screen broke its bound and is not used any more")
            self._screen = None
            return False
        return True


def _worth_a_screen(rows: WeightRows) -> bool:
    return rows.rows * rows.hidden >= _SCREENED_FROM and rows.hidden <= MAX_HIDDEN


def _tables(rows: WeightRows, path: Path, source: bytes) -> ScreenTables | None:
    shape = ScreenShape(rows.rows, rows.hidden, preferred_tile(rows.rows), source)
    try:
        return read_screen(path, shape)
    except ScreenDamaged as damaged:
        _LOG.info("deriving the LM head's screen: %s", damaged)
    try:
        build_screen(path, rows, shape)
        return read_screen(path, shape)
    except (OSError, ScreenDamaged) as error:
        _LOG.warning("the LM head runs without its screen, which could not be stored: %s", error)
        return None
