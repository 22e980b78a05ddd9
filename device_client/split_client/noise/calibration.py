"""The norm that rows are clipped to and how far two of them can be apart: one rule for everybody.

Chats with noise, the audit and the web page work both out alike, so that the same noise has the
same epsilon in all of them. They are worked out once and kept beside the weights.
"""

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
from split_client.weights.manifest import Manifest
from split_privacy.sensitivity import MOST_PRODUCTS, Farthest, largest_distance, norms

QUANTILE = 0.99
FILE_NAME = "noise-table.json"
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
    def of(cls, manifest: Manifest, clean: Clean) -> Table:
        """That of a model, whose rows ``clean`` looks up."""
        entry = manifest.embedding
        sha256 = manifest.file(entry.file).sha256
        return cls(clean, entry.rows, manifest.hidden_size, sha256, entry.scale)


@dataclass(frozen=True, slots=True)
class Calibration:
    """No two rows clipped to ``clip`` are more than ``sensitivity`` apart.

    ``exact``: two are that far; else it is a bound.
    """

    clip: float
    sensitivity: float
    exact: bool


def calibrate(
    table: Table,
    clip: float | None,
    folder: Path,
    tell: Callable[[], None] = lambda: None,
    most_products: float = MOST_PRODUCTS,
) -> Calibration:
    """The clip norm, where None is given, and the sensitivity; kept in ``folder``.

    ``tell`` is called once before the table is looked at, which takes seconds where it is large.
    Raises NoiseSettingInvalid for a table of which no noise can be made.
    """
    kept = _Kept.read(folder / FILE_NAME, table, tell)
    if clip is None:
        clip = kept.get("quantile", lambda: _quantile(table))
    if not 0.0 < clip < math.inf:
        raise NoiseSettingInvalid("the embedding table is all zeros; give a clip norm")
    farthest = _farthest(table, clip, kept, most_products)
    if farthest.distance <= 0.0:
        raise NoiseSettingInvalid("all rows of the embedding table are equal; noise hides nothing")
    return Calibration(clip, farthest.distance, farthest.exact)


def _farthest(table: Table, clip: float, kept: _Kept, most_products: float) -> Farthest:
    """As kept, where that can be true, else searched. Bounds have a name of their own."""
    exact, bound = f"distance {clip.hex()}", f"bound {clip.hex()}"
    for name in (exact, bound):
        if (known := kept.find(name, 2.0 * clip)) is not None:
            return Farthest(known, name == exact)
    kept.begin()
    found = largest_distance(table.clean, table.rows, table.width, clip, most_products)
    kept.keep(exact if found.exact else bound, found.distance)
    return found


def _quantile(table: Table) -> float:
    return float(np.quantile(norms(table.clean, table.rows), QUANTILE, method="higher"))


class _Kept:
    """Numbers of one table by name; a file of another table or that is damaged counts as none.

    ``{"table": name, "numbers": {name: number}, "sha256": of both as canonical JSON}``.
    """

    def __init__(
        self, path: Path, table: str, numbers: dict[str, float], tell: Callable[[], None]
    ) -> None:
        self._path, self._table, self._numbers = path, table, numbers
        self._tell: Callable[[], None] | None = tell

    @classmethod
    def read(cls, path: Path, table: Table, tell: Callable[[], None]) -> _Kept:
        name = f"{_FORMAT} {table.sha256} {table.rows} {table.width} {table.scale}"
        try:
            document = json.loads(path.read_bytes())
            intact = document == _document(name, document["numbers"])
            found = {k: v for k, v in document["numbers"].items() if intact and type(v) is float}
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            found = {}
        return cls(path, name, found, tell)

    def begin(self) -> None:
        """Tell, the first time, that the table is looked at."""
        tell, self._tell = self._tell, None
        if tell is not None:
            tell()

    def find(self, name: str, most: float = _LARGEST) -> float | None:
        """The number kept as ``name`` where it is above 0 and up to ``most``."""
        known = self._numbers.get(name, 0.0)
        return known if 0.0 < known <= most else None

    def get(self, name: str, compute: Callable[[], float]) -> float:
        """The number kept as ``name``, computed where there is none."""
        known = self.find(name)
        if known is None:
            self.begin()
            known = compute()
            self.keep(name, known)
        return known

    def keep(self, name: str, number: float) -> None:
        """Also for the next time."""
        self._numbers[name] = number
        kept = dict(list(self._numbers.items())[-_MOST_KEPT:])
        # Without the file the search is made again, which costs time and nothing else.
        with contextlib.suppress(OSError):
            write_whole(self._path, json.dumps(_document(self._table, kept)).encode())


def _document(table: str, numbers: dict[str, float]) -> dict[str, object]:
    content: dict[str, object] = {"table": table, "numbers": numbers}
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    return content | {"sha256": sha256(canonical).hexdigest()}
