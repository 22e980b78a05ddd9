"""How many masks there are at most."""

from __future__ import annotations

from typing import Final

MOST_MASKS: Final = 512
"""That a device has ready for one reply."""
MOST_IN_A_RANGE: Final = 1024
"""Numbers that a host hands out at once."""
