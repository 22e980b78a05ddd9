"""How often a principal may have models loaded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

_LOADS, _SECONDS = 2, 60.0


class Allowance:
    """So many loads in so many seconds; ``clock`` in seconds."""

    def __init__(
        self, clock: Callable[[], float], loads: int = _LOADS, seconds: float = _SECONDS
    ) -> None:
        self._clock, self._loads, self._seconds = clock, loads, seconds
        self._begun: dict[str, deque[float]] = {}

    def wait(self, principal: str) -> float:
        """Seconds until the principal may have the next one loaded; 0: now."""
        self._forget()
        begun = self._begun.get(principal, deque())
        return begun[0] + self._seconds - self._clock() if len(begun) >= self._loads else 0.0

    def count(self, principal: str) -> None:
        """The principal has a model loaded now."""
        self._begun.setdefault(principal, deque(maxlen=self._loads)).append(self._clock())

    def give_back(self, principal: str) -> None:
        """Its latest load was none."""
        if begun := self._begun.get(principal):
            begun.pop()

    def _forget(self) -> None:
        """Have nobody in mind whose loads are long ago."""
        past = self._clock() - self._seconds
        for principal, begun in [*self._begun.items()]:
            while begun and begun[0] <= past:
                begun.popleft()
            if not begun:
                del self._begun[principal]
