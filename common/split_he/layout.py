"""The places of an adapter's product in polynomials: where its numbers sit, at which scales.

A hidden state of d numbers is cut into u chunks of c; chunk j is the polynomial sum_t h[jc+t]
x^t. The N // c rows of A that fit one group k are reversed into A_jk(x) = sum_p sum_t A[p, jc+t]
x^(pc+c-1-t). In the negacyclic product the coefficient (p+1)c - 1 is the inner product of chunk j
with row p, and nothing else falls there: another row lands c or more away, and what wraps lands
below c - 1. Summed over j, one reply ciphertext carries N // c results, and no rotation is
needed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from split_he.errors import MalformedPacking, UnsupportedShape
from split_he.params import INPUT_SCALE, WEIGHT_SCALE, N, Q

MAX_HIDDEN: Final = 8192
MAX_RANK: Final = 64
ACTIVATION_RMS: Final = 64.0
"""Root mean square up to which hidden states are accepted when nobody states another bound."""


@dataclass(frozen=True)
class Packing:
    """Shapes and scales of one adapter; what both sides must agree on.

    ``norm_bound`` is the largest Euclidean norm of a hidden state; ``chunks`` ciphertexts go up,
    ``groups`` come down.
    """

    hidden: int
    rank: int
    chunks: int
    groups: int
    chunk: int
    input_scale: float
    weight_scale: float
    norm_bound: float

    @property
    def per_group(self) -> int:
        """Results in one reply ciphertext."""
        return N // self.chunk

    @property
    def scale(self) -> float:
        """The factor of a result inside a reply."""
        return self.input_scale * self.weight_scale

    def used(self, group: int) -> NDArray[np.int64]:
        """Coefficients of reply ``group`` that carry results; all others are masked."""
        count = min(self.per_group, self.rank - group * self.per_group)
        return np.arange(1, count + 1, dtype=np.int64) * self.chunk - 1

    def document(self) -> dict[str, int | float]:
        """Plain numbers for a session document; :meth:`parse` reads them back."""
        return asdict(self)

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> Packing:
        """A packing from a peer's document. Raises MalformedPacking, UnsupportedShape."""
        wanted = {field.name: field.type for field in fields(cls)}
        if set(document) != set(wanted):
            raise MalformedPacking(f"fields {sorted(map(str, document))[:16]}")
        for name, kind in wanted.items():
            if type(document[name]) is not (int if kind == "int" else float):
                raise MalformedPacking(f"{name} is not of type {kind}")
        scales = {n: document[n] for n in ("input_scale", "weight_scale", "norm_bound")}
        made = packing(document["hidden"], document["rank"], **scales)
        if made.document() != dict(document):
            raise MalformedPacking("chunks, groups or chunk are not those of this shape")
        return made


def packing(
    hidden: int,
    rank: int,
    input_scale: float = INPUT_SCALE,
    weight_scale: float = WEIGHT_SCALE,
    norm_bound: float | None = None,
) -> Packing:
    """The packing with the fewest bytes: u up and 2v down, then the fewest products.

    ``hidden`` in 1..8192, ``rank`` in 1..64. Raises UnsupportedShape, MalformedPacking.
    """
    if not (1 <= hidden <= MAX_HIDDEN and 1 <= rank <= MAX_RANK):
        raise UnsupportedShape(
            f"hidden size {hidden} and rank {rank}; encrypted adapters take hidden sizes up to "
            f"{MAX_HIDDEN} and ranks up to {MAX_RANK}"
        )
    bound = ACTIVATION_RMS * math.sqrt(hidden) if norm_bound is None else norm_bound
    _check_scales(input_scale, weight_scale, bound)
    _, _, chunks, groups, chunk = min(_candidates(hidden, rank))
    return Packing(hidden, rank, chunks, groups, chunk, input_scale, weight_scale, bound)


def _check_scales(input_scale: float, weight_scale: float, bound: float) -> None:
    for name, value in (("input", input_scale), ("weight", weight_scale), ("bound", bound)):
        if not (math.isfinite(value) and 2.0**-100 < value < 2.0**100):
            raise MalformedPacking(f"{name} scale or bound {value!r} is out of range")
    if input_scale * bound >= Q // 2:
        raise MalformedPacking("the input scale lets a hidden state wrap modulo Q")


def _candidates(hidden: int, rank: int) -> list[tuple[int, int, int, int, int]]:
    found = []
    for chunks in range(-(-hidden // N), min(hidden, 64) + 1):
        chunk = -(-hidden // chunks)
        groups = -(-rank // (N // chunk))
        found.append((chunks + 2 * groups, chunks * groups, chunks, groups, chunk))
    return found
