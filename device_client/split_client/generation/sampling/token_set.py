"""The tokens that may be chosen, in the form in which choosing among them is cheap."""

from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from split_client.generation.errors import NothingAllowed

# Reading so many rows of the LM head one by one costs less than reading all of its screen.
FEW: Final = 2048


@dataclass(frozen=True, slots=True, eq=False)
class TokenSet:
    """``mask`` [vocab] of the members, at least one.

    ``members``: their ids, rising, where they are few. ``others``: the ids of all other tokens,
    rising, where those are few and the members are not.
    """

    mask: NDArray[np.bool_]
    members: NDArray[np.int64] | None
    others: NDArray[np.int64] | None

    @classmethod
    def of(cls, mask: NDArray[np.bool_]) -> Self:
        """The set of ``mask`` [vocab]. Raises NothingAllowed for an empty one."""
        count = int(np.count_nonzero(mask))
        if count == 0:
            raise NothingAllowed
        if count <= FEW:
            return cls(mask, np.flatnonzero(mask), None)
        return cls(mask, None, np.flatnonzero(~mask) if mask.size - count <= FEW else None)

    @classmethod
    def without(cls, ids: NDArray[np.int64], vocab: int) -> Self:
        """All tokens 0..vocab-1 but ``ids``. Raises NothingAllowed when none is left."""
        mask = np.ones(vocab, np.bool_)
        mask[ids] = False
        return cls.of(mask)

    def within(self, mask: NDArray[np.bool_]) -> "TokenSet":
        """The members that are set in ``mask`` [vocab]. Raises NothingAllowed."""
        return TokenSet.of(self.mask & mask)
