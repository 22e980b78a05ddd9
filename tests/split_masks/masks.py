"""Masks between a device and a host of ``split_he``, without sockets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_he.device import rounded
from split_he.modular import Residues
from split_masks import host
from split_masks.device import Hiding, Mask
from split_masks.host import HostMatrix
from tests.split_he.sessions import Session, session


@dataclass
class Masking:
    """``side``: keys and adapter; ``matrix``: the host's of the online step."""

    side: Session
    matrix: HostMatrix

    @classmethod
    def of(cls, a: NDArray[np.float32]) -> Masking:
        side = session(a)
        return cls(side, HostMatrix(a, side.plan))

    def mask(self, number: int = 0) -> tuple[Mask, Residues]:
        """A mask, and what the host keeps of it."""
        hiding = Hiding.draw(self.side.keys, self.side.plan)
        reply, kept = host.evaluate(self.side.adapter, hiding.query, self.side.host_key)
        return hiding.mask(number, reply, self.side.keys, self.side.plan), kept

    def product(self, hidden: NDArray[np.float32]) -> NDArray[np.float64]:
        """A h by way of a mask."""
        mask, kept = self.mask()
        state = rounded(hidden, self.side.plan)
        return mask.product(self.matrix.answer(mask.masked(state), kept))
