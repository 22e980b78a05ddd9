"""What a step costs, learned from the times of steps: one part for the step, one for each row.

Only sums, products, quotients and comparisons of doubles decide here and in the rooms beside, in
the order written, so that every language comes to the same numbers.
"""

from __future__ import annotations

from split_client.generation.speculation.drafts import StepCost

# Share of a new observation.
_GAIN = 0.125
# Until steps of several rows have told it, a row beyond the first costs that part of a step of
# one; a guess that weighs as much as so many rows.
_FIRST_GUESS, _GUESSED_ROWS = 0.125, 2.0
_FADING = 0.875
_ENOUGH = 8
# One step tells at most so many times the usual cost of a row's share: a hiccup is none of a row.
_MOST_STEPS = 4.0


class StepCosts:
    """Seconds, smoothed. ``fixed``: a step of one row, with the round trip and the queue; None
    before the first step. ``row``: each further one. ``head``: to choose from one state.
    """

    def __init__(self) -> None:
        self.fixed: float | None = None
        self.head = 0.0
        self._queue = 0.0
        self._steps = self._single = self._heads = 0
        self._extra, self._rows = 0.0, 0.0

    @property
    def known(self) -> bool:
        """Whether a step of one row, or many of several, have told what a step costs."""
        return self._single > 0 or self._steps >= _ENOUGH

    @property
    def row(self) -> float:
        """Of each row beyond the first."""
        guess = _FIRST_GUESS * self.step
        return (self._extra + guess * _GUESSED_ROWS) / (self._rows + _GUESSED_ROWS)

    @property
    def step(self) -> float:
        """Of a step of one row; 1, without a meaning of its own, before the first step."""
        return 1.0 if self.fixed is None else self.fixed + self._queue

    def stepped(self, cost: StepCost) -> None:
        """A step ended."""
        queue = min(cost.queue, cost.seconds)
        self._steps += 1
        gain = max(_GAIN, 1.0 / self._steps)
        self._queue += gain * (queue - self._queue)
        seconds, more = cost.seconds - queue, cost.rows - 1
        if self.fixed is None:
            self.fixed = seconds / (1.0 + _FIRST_GUESS * more)
        if more == 0:
            self._single += 1
            self.fixed += max(_GAIN, 1.0 / self._single) * (seconds - self.fixed)
        elif seconds < self.fixed:
            self.fixed += _GAIN * (seconds - self.fixed)
        if more > 0:
            extra = min(max(0.0, seconds - self.fixed), _MOST_STEPS * self.step)
            self._extra = self._extra * _FADING + extra
            self._rows = self._rows * _FADING + more

    def chose(self, seconds: float) -> None:
        """The device chose from one state."""
        self._heads += 1
        self.head += max(_GAIN, 1.0 / self._heads) * (seconds - self.head)

    def of(self, rows: int) -> float:
        """Of a step of so many rows."""
        return self.step + self.row * (rows - 1)

    def unqueued(self, rows: int) -> float:
        """:meth:`of` without the queue."""
        return self.of(rows) - self._queue
