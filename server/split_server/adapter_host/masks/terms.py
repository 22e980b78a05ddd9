"""Which adapters masks serve, and where the numbers that are handed out are written down."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from split_he.layout import Packing
from split_masks.errors import MatrixUnfit
from split_masks.host import HostMatrix
from split_masks.numbers import numbers_bytes
from split_masks.ranges import RangeFile
from split_server.adapter_host.shapes import Terms
from split_server.adapters.adapter_file import AdapterFile

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MaskTerms:
    """``matrices``: of the adapters that masks serve. ``ranges``: the file of numbers, None where
    no mask is made.
    """

    matrices: Mapping[str, HostMatrix]
    ranges: RangeFile | None

    def kept_bytes(self, adapter: str) -> int:
        """The bytes of one mask's s."""
        return numbers_bytes(self.matrices[adapter].plan.rank)

    @classmethod
    def of(
        cls, adapters: Mapping[str, tuple[AdapterFile, Terms]], ranges: RangeFile | None
    ) -> MaskTerms:
        """Those of all ``adapters`` that fit; the others are named in the log."""
        matrices = {}
        for name, (file, terms) in adapters.items() if ranges is not None else ():
            try:
                matrices[name] = HostMatrix(file.a, Packing.parse(terms.packing))
            except MatrixUnfit as error:
                _log.warning("no one-time masks for adapter %r: %s", name, error)
        return cls(matrices, ranges)
