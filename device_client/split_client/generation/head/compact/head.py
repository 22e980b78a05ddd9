"""The LM head of a small device: a 4-bit plane names a shortlist, which is rescored exactly.

The plane gives an estimate of every row . hidden; the 512 rows of the largest estimates (four for
each one wanted, where that is more) are read from the mapped weights and multiplied as
``ExactLMHead`` multiplies them, so every logit that is returned has the bits that ``ExactLMHead``
returns. Which rows are returned is *not* proven: a row whose estimate misses by more than the
distance between the last logit wanted and the first estimate left out goes unseen. That distance is
compared with the root mean square error seen on the shortlist; where it is below four of these the
shortlist grows, in the end to a full product. Measured, this has not lost a row
(``docs/benchmarks.md``); errors that are not like those of the shortlist would.

``logits`` are all exact and read all rows. A log-probability and a draw without top-k need the
weight of all rows: they take that of the tail from the estimates where the interval of
``top_and_rest`` leaves no doubt that matters, and read all rows elsewhere.
"""

import logging
from pathlib import Path
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from split_client.generation.errors import PlaneDamaged
from split_client.generation.head.candidates import Interval, rest_weight
from split_client.generation.head.compact.build import build_plane
from split_client.generation.head.compact.file import Plane, PlaneShape, read_plane
from split_client.generation.head.compact.matmul import Estimator, plane_products
from split_client.generation.head.derived_file import file_digest
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.head import TopLogits
from split_client.generation.head.onnx_session import default_threads
from split_client.generation.head.ranking import rank
from split_client.generation.head.row_products import RowProducts
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.screen.bounds import Bounds
from split_client.generation.head.spec import HeadSpec

_LOG: Final = logging.getLogger(__name__)
# Below this many weights a full product costs less than it takes to avoid it.
_COMPACT_FROM: Final = 4_000_000
SHORTLIST: Final = 512
_PER_WANTED: Final = 4
_GROWTH: Final = 4
# A shortlist above this part of the rows costs as much as a full product.
_LARGEST_PART: Final = 4
_ERRORS_APART: Final = 4.0
# Every row of the tail is taken to miss by this many errors, all to one side.
_ERRORS_OF_TAIL: Final = 2.0


class _Shortlist(NamedTuple):
    """Rescored rows: ``ids`` [n] and float32 ``products`` [n]; what was known before of all rows.

    ``estimates``: row . hidden + bias, float32 [rows], -inf for what was not to be listed;
    ``error``: root mean square distance of ``products`` (plus bias) from the estimates.
    """

    ids: NDArray[np.int64]
    products: NDArray[np.float32]
    estimates: NDArray[np.float32]
    error: float


class CompactLMHead:
    """LM head over mapped rows and estimates from a 4-bit plane; several threads may use one.

    Without estimates every call is a full product in blocks, exact.
    """

    def __init__(self, rows: WeightRows, spec: HeadSpec, estimator: Estimator | None) -> None:
        self.rows = rows
        self.spec = spec
        self._exact = ExactLMHead(rows, spec)
        self._products = RowProducts(rows, spec)
        self.estimator = estimator

    @classmethod
    def open(
        cls,
        rows: WeightRows,
        spec: HeadSpec | None = None,
        *,
        plane_path: Path,
        source: bytes | None = None,
        threads: int | None = None,
    ) -> Self:
        """The head of ``rows``, with its plane read from ``plane_path`` or derived to there.

        ``source``: SHA-256 of the weight file where it is known, else it is computed. ``threads``:
        of onnxruntime, default min(2, cores). A small matrix has no plane. Raises InvalidHeadSpec,
        WeightsNotFinite, PlaneNotStored.
        """
        spec = spec or HeadSpec()
        spec.check_rows(rows.rows)
        if rows.rows * rows.hidden < _COMPACT_FROM:
            return cls(rows, spec, None)
        plane = _plane(rows, plane_path, source or file_digest(rows.path))
        return cls(
            rows, spec, Estimator(plane, plane_products(plane, threads or default_threads()))
        )

    @property
    def screened(self) -> bool:
        """Whether estimates spare most of the rows."""
        return self.estimator is not None

    def top(self, hidden: NDArray[np.float32], k: int, also: ArrayLike = ()) -> TopLogits:
        """The top ``k`` rows outside ``also``, and the logits of ``also`` [m], exactly.

        That no other row belongs to the top is measured, not proven. Raises InvalidHiddenState,
        TokenIdOutOfRange, NonFiniteLogits.
        """
        found = self._found(hidden, k, also)
        return self._exact.top(hidden, k, also) if found is None else found[0]

    def top_and_rest(
        self, hidden: NDArray[np.float32], k: int, temperature: float, also: ArrayLike = ()
    ) -> tuple[TopLogits, Interval] | None:
        """``top``, and an interval for the weight of the rest (see ``LMHead``); None: unknown.

        The interval holds the weight that the estimates give, and what it would be if they all
        missed by twice their error to one side.
        """
        return self._found(hidden, k, also, temperature)

    def logits(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """All logits, float32 [rows], exactly. Raises InvalidHiddenState, NonFiniteLogits."""
        return self._exact.logits(hidden)

    def logits_of_states(self, states: NDArray[np.float32]) -> NDArray[np.float32]:
        """As :meth:`LMHead.logits_of_states`."""
        return self._exact.logits_of_states(states)

    def _found(
        self,
        hidden: NDArray[np.float32],
        k: int,
        also: ArrayLike,
        temperature: float | None = None,
    ) -> tuple[TopLogits, Interval] | None:
        hidden = self._products.checked(hidden)
        also_ids = self.rows.check_ids(also)
        listed = self._listed(hidden, k, also_ids)
        if listed is None:
            return None
        ids, logits = rank(listed.ids, self._products.finished(listed.products, listed.ids))
        rest = Interval(0.0, np.inf)
        if temperature is not None:
            doubt = np.float32(_ERRORS_OF_TAIL * listed.error)
            bounds = Bounds(listed.estimates - doubt, listed.estimates + doubt)
            rest = rest_weight(bounds, ids, logits, k, self.spec, temperature)
        also_logits = self._products.logits_of(also_ids, hidden)
        return TopLogits(ids[:k], logits[:k], also_logits), rest

    def _listed(
        self, hidden: NDArray[np.float32], k: int, also: NDArray[np.int64]
    ) -> _Shortlist | None:
        """A shortlist that stands well apart from what it leaves out, or None."""
        largest = (self.rows.rows - np.unique(also).size) // _LARGEST_PART
        size = max(SHORTLIST, _PER_WANTED * k)
        if self.estimator is None or k <= 0 or size > largest:
            return None
        estimates = self.spec.biased(self.estimator(hidden))
        if not np.isfinite(estimates).all():
            return None
        estimates[also] = -np.inf
        while size <= largest:
            listed = self._rescored(estimates, size, hidden)
            if self._stands_apart(listed, k):
                return listed
            size *= _GROWTH
        return None

    def _rescored(
        self, estimates: NDArray[np.float32], size: int, hidden: NDArray[np.float32]
    ) -> _Shortlist:
        ids = np.sort(np.argpartition(estimates, -size)[-size:])
        products = self._products.of(ids, hidden)
        with np.errstate(over="ignore", invalid="ignore"):
            misses = (self.spec.biased(products, ids) - estimates[ids]).astype(np.float64)
            return _Shortlist(ids, products, estimates, float(np.sqrt(np.mean(misses**2))))

    def _stands_apart(self, listed: _Shortlist, k: int) -> bool:
        """Whether whatever ranks with the k-th lies errors above all estimates left out."""
        biased = self.spec.biased(listed.products, listed.ids)
        # A saturated cap makes ties of distant rows, and ties rank by id.
        lowest_wanted = self.spec.lowest_rival(float(np.partition(biased, -k)[-k]))
        highest_left_out = float(listed.estimates[listed.ids].min())
        return lowest_wanted - highest_left_out > _ERRORS_APART * listed.error


def _plane(rows: WeightRows, path: Path, source: bytes) -> Plane:
    shape = PlaneShape(rows.rows, rows.hidden, source)
    try:
        return read_plane(path, shape)
    except PlaneDamaged as damaged:
        _LOG.info("deriving the compact LM head's plane: %s", damaged)
    build_plane(path, rows, shape)
    return read_plane(path, shape)
