"""What limits a reply to a form, token by token: a grammar, for example."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Constraint(Protocol):
    """The state of one reply. One caller at a time."""

    def allowed(self, remaining: int) -> NDArray[np.bool_] | None:
        """Which tokens may come next, a mask [vocab]; None: every token.

        ``remaining``: how many tokens the reply may still have, this one included (at least 1).
        """

    def accept(self, token: int) -> None:
        """``token`` was chosen from what was allowed."""

    @property
    def finished(self) -> bool:
        """Nothing may follow."""
