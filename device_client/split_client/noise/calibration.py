"""The largest distance of two rows of a model's table, searched once, kept beside its weights."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from split_client.noise.errors import NoiseSettingInvalid
from split_client.owner_file import write_whole
from split_client.weights.store import StoredModel
from split_privacy.sensitivity import largest_distance, norms

QUANTILE = 0.99
FILE_NAME = "noise-table.json"
# Multiplications that a search may take: some ten seconds of two cores.
MOST_PRODUCTS = 5e11
_FORMAT = 2
_MOST_KEPT = 64
_LARGEST = sys.float_info.max

Clean = Callable[[list[int]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows as a model without noise would see them, in float32 whatever they travel as.

    So one search holds for every dtype. ``sha256``: of the file, ``scale``: the family's factor.
    """

    clean: Clean
    rows: int
    width: int
    sha256: str
    scale: float | None

    @classmethod
    def of(cls, stored: StoredModel, clean: Clean) -> Table:
        """That of a model, whose rows ``clean`` looks up."""
        manifest, entry = stored.manifest, stored.manifest.embedding
        sha256 = manifest.file(entry.file).sha256
        return cls(clean, entry.rows, manifest.hidden_size, sha256, entry.scale)

    def block(self, start: int, stop: int) -> NDArray[np.float32]:
        """Rows start..stop-1 [n, width]."""
        return self.clean(list(range(start, stop)))


@dataclass(frozen=True, slots=True)
class Calibration:
    """``sensitivity``: the largest distance of two clipped rows; ``exact``: searched, else 2C."""

    clip: float
    sensitivity: float
    exact: bool


def calibrate(
    table: Table, clip: float | None, folder: Path, most_products: float = MOST_PRODUCTS
) -> Calibration:
    """The clip norm, where None is given, and the sensitivity; kept in ``folder``.

    Raises NoiseSettingInvalid for a table of which no noise can be made.
    """
    kept = _Kept.read(folder / FILE_NAME, table)
    if clip is None:
        clip = kept.get("quantile", lambda: _quantile(table))
    if not 0.0 < clip < math.inf:
        raise NoiseSettingInvalid("the embedding table is all zeros; give a clip norm")
    if table.rows**2 * table.width / 2 > most_products:
        return Calibration(clip, 2.0 * clip, exact=False)
    norm = clip
    distance = kept.get(
        f"distance {norm.hex()}",
        # Rounding up must not go beyond what two rows of that norm can be apart.
        lambda: min(2.0 * norm, largest_distance(table.block, table.rows, table.width, norm)),
        most=2.0 * norm,
    )
    if distance <= 0.0:
        raise NoiseSettingInvalid("all rows of the embedding table are equal; noise hides nothing")
    return Calibration(clip, distance, exact=True)


def _quantile(table: Table) -> float:
    return float(np.quantile(norms(table.block, table.rows), QUANTILE, method="higher"))


class _Kept:
    """Numbers of one table by name; a file of another table or that is damaged counts as none.

    ``{"table": name, "numbers": {name: number}, "sha256": of both as canonical JSON}``.
    """

    def __init__(self, path: Path, table: str, numbers: dict[str, float]) -> None:
        self._path, self._table, self._numbers = path, table, numbers

    @classmethod
    def read(cls, path: Path, table: Table) -> _Kept:
        name = f"{_FORMAT} {table.sha256} {table.rows} {table.width} {table.scale}"
        try:
            document = json.loads(path.read_bytes())
            intact = document == _document(name, document["numbers"])
            found = {k: v for k, v in document["numbers"].items() if intact and type(v) is float}
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            found = {}
        return cls(path, name, found)

    def get(self, name: str, compute: Callable[[], float], most: float = _LARGEST) -> float:
        """The number kept as ``name``, computed where none above 0 and up to ``most`` is."""
        if not 0.0 < self._numbers.get(name, 0.0) <= most:
            self._numbers[name] = compute()
            kept = dict(list(self._numbers.items())[-_MOST_KEPT:])
            # Without the file the search is made again, which costs time and nothing else.
            with contextlib.suppress(OSError):
                write_whole(self._path, json.dumps(_document(self._table, kept)).encode())
        return self._numbers[name]


def _document(table: str, numbers: dict[str, float]) -> dict[str, object]:
    content: dict[str, object] = {"table": table, "numbers": numbers}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    return content | {"sha256": sha256(canonical).hexdigest()}
