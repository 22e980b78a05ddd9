"""A source whose drafts lose time is not asked for a while, and for twice as long the next time."""

from __future__ import annotations

from dataclasses import dataclass

# In steps of one row: what may be lost before, and what gains are remembered.
_MAY_LOSE, _MAY_GAIN = 1.5, 4.0
_FIRST_PAUSE, _LONGEST_PAUSE = 32, 2048


@dataclass(slots=True)
class _Account:
    lost: float = 0.0
    left: int = 0
    pause: int = _FIRST_PAUSE


class Silence:
    """What the drafts of each source have cost, counted in steps of one row."""

    def __init__(self) -> None:
        self._accounts: dict[str, _Account] = {}

    def asked(self, source: str) -> bool:
        """Whether ``source`` may speak; one turn of its silence is over."""
        account = self._accounts.setdefault(source, _Account())
        if account.left:
            account.left -= 1
            return False
        return True

    def cost(self, source: str, steps: float) -> None:
        """A draft took as long as so many steps more than its tokens saved; negative: it gained."""
        account = self._accounts.setdefault(source, _Account())
        account.lost = max(account.lost + steps, -_MAY_GAIN)
        if account.lost > _MAY_LOSE:
            account.left, account.lost = account.pause, 0.0
            account.pause = min(2 * account.pause, _LONGEST_PAUSE)
        elif account.lost == -_MAY_GAIN:
            account.pause = _FIRST_PAUSE
