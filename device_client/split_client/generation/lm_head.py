"""The LM head on the device: the top k logits of a hidden state, exactly.

Exact means: with z_r = float32(row r . hidden) for every row, ``top`` returns the first k by
(-logit, id) of ``HeadSpec.finish(z)``. The screen proves which rows can be among them whatever the
order of summation in z_r; those rows alone are read from the mapped weights and multiplied by the
same BLAS routine as a full product. So the ids are those of the full float32 computation; only
where two logits differ by less than the float32 rounding of their own sums can another BLAS (or
another order of summation) rank the two the other way round.
"""

import hashlib
import logging
import threading
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from split_client.generation.errors import (
    InvalidHiddenState,
    NonFiniteLogits,
    ScreenDamaged,
)
from split_client.generation.head_spec import HeadSpec
from split_client.generation.int8_matmul import (
    MAX_HIDDEN,
    default_threads,
    integer_products,
    onnxruntime_available,
    preferred_tile,
)
from split_client.generation.ranking import kth_largest_at_least, rank, rank_all
from split_client.generation.rows import WeightRows
from split_client.generation.screen import Screen
from split_client.generation.screen_build import build_screen
from split_client.generation.screen_file import ScreenShape, ScreenTables, read_screen

_LOG: Final = logging.getLogger(__name__)
# Below this many weights a full product costs less than a screen.
_SCREENED_FROM: Final = 4_000_000
_BLOCK: Final = 1024
_GATHER: Final = 4096
# BLAS kernels take rows in groups; whole groups make a row's sum independent of its neighbours.
_ROW_GROUP: Final = 16
_GROUP: Final = 16


class TopLogits(NamedTuple):
    """``ids`` and ``logits`` by (-logit, id); ``also_logits`` in the order that was asked for."""

    ids: NDArray[np.int64]
    logits: NDArray[np.float32]
    also_logits: NDArray[np.float32]


class ExactLMHead:
    """LM head over mapped rows; several threads may use one.

    Without a screen every call is a full product in blocks: the same results, slower.
    """

    def __init__(self, rows: WeightRows, spec: HeadSpec, screen: Screen | None = None) -> None:
        spec.check_rows(rows.rows)
        self.rows = rows
        self.spec = spec
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
            tables = _tables(rows, screen_path, source or _file_digest(rows.path))
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
        hidden = self._checked(hidden)
        also_ids = self.rows.check_ids(also)
        k = min(k, self.rows.rows - np.unique(also_ids).size)
        if self._screen is not None and k > 0:
            found = self._screened_top(self._screen, hidden, k, also_ids)
            if found is not None:
                return found
        if k <= 0:
            none = np.empty(0, np.int64)
            return TopLogits(none, none.astype(np.float32), self._some_logits(also_ids, hidden))
        logits = self.logits(hidden)
        also_logits = logits[also_ids]
        logits[also_ids] = -np.inf
        return TopLogits(*rank_all(logits, k), also_logits)

    def logits(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """All logits, float32 [rows]. Raises InvalidHiddenState, NonFiniteLogits."""
        hidden = self._checked(hidden)
        products = np.empty(self.rows.rows, np.float32)
        for start, block in self.rows.blocks(_BLOCK):
            products[start : start + len(block)] = _multiply(block, hidden)
        return self._finished(products, None)

    def _checked(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        if hidden.shape != (self.rows.hidden,):
            raise InvalidHiddenState(f"shape {hidden.shape}, not ({self.rows.hidden},)")
        if not np.isfinite(hidden).all():
            raise InvalidHiddenState("it holds NaN or infinity")
        return np.ascontiguousarray(hidden, dtype=np.float32)

    def _screened_top(
        self, screen: Screen, hidden: NDArray[np.float32], k: int, also: NDArray[np.int64]
    ) -> TopLogits | None:
        with self._lock:
            ids, lower, upper = self._candidates(screen, hidden, k, also)
        products = self._products(ids, hidden)
        biased = products if self.spec.bias is None else products + self.spec.bias[ids]
        if (biased < lower).any() or (biased > upper).any():
            _LOG.error("the LM head's screen broke its bound and is not used any more")
            self._screen = None
            return None
        logits = self._finished(products, ids)
        return TopLogits(*rank(ids, logits, k), self._some_logits(also, hidden))

    def _candidates(
        self, screen: Screen, hidden: NDArray[np.float32], k: int, also: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.float32]]:
        lower, upper = screen.bounds(hidden)
        lower[also] = -np.inf
        upper[also] = -np.inf
        lower[self.rows.rows :] = -np.inf
        floor = self.spec.lowest_rival(kth_largest_at_least(lower, k, _GROUP))
        below = upper < np.nextafter(np.float32(floor), np.float32(-np.inf))
        below[also] = True  # also when the floor is -inf
        # "Not below" rather than "above": a row whose bounds are NaN stays.
        ids = np.flatnonzero(~below[: self.rows.rows])
        return ids, lower[ids], upper[ids]

    def _some_logits(
        self, ids: NDArray[np.int64], hidden: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        return self._finished(self._products(ids, hidden), ids)

    def _products(self, ids: NDArray[np.int64], hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        products = np.empty(ids.size, np.float32)
        for start in range(0, ids.size, _GATHER):
            part = ids[start : start + _GATHER]
            products[start : start + part.size] = _multiply(self.rows.take(part), hidden)
        return products

    def _finished(
        self, products: NDArray[np.float32], ids: NDArray[np.int64] | None
    ) -> NDArray[np.float32]:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            logits = self.spec.finish(products, ids)
        finite = np.isfinite(logits)
        if not finite.all():
            first = int(np.argmin(finite))
            raise NonFiniteLogits(first if ids is None else int(ids[first]))
        return logits


def _multiply(block: NDArray[np.float32], hidden: NDArray[np.float32]) -> NDArray[np.float32]:
    rows = len(block)
    short = -rows % _ROW_GROUP
    if short:
        block = np.concatenate([block, np.zeros((short, block.shape[1]), np.float32)])
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        product: NDArray[np.float32] = (block @ hidden)[:rows]
    return product


def _worth_a_screen(rows: WeightRows) -> bool:
    return rows.rows * rows.hidden >= _SCREENED_FROM and rows.hidden <= MAX_HIDDEN


def _file_digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


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
