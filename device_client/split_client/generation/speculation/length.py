"""How long a draft is worth its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from split_client.generation.speculation.acceptance import Acceptance
from split_client.generation.speculation.costs import StepCosts
from split_client.generation.speculation.drafts import Draft, StepCost
from split_client.generation.speculation.silence import Silence

# Of a token's time a draft must be expected to save that part.
_WORTH = 1.0 / 16.0
# Below, a draft pays in bytes what it saves in time.
_LEAST_ACCEPTED = 0.1875
# Rows for each expected token.
_MOST_ROWS = 2.1875
# Kernels take rows in such sizes, and a started one costs about as much as a whole one; another
# size must be better by a part of this.
_SIZES, _BETTER = (4, 8, 16), 1.0 / 32.0
# A step that took much longer than it should have says something about the network alone.
_MOST_LOST = 2.0
# Seconds of a step, below which a clock says nothing.
_SHORTEST = 2.0**-20


@dataclass(frozen=True, slots=True)
class Choice:
    """A draft of so many tokens, and the seconds that each token is then expected to take."""

    count: int
    seconds: float


class DraftLength(Protocol):
    """Chooses lengths, and learns from what became of them."""

    def choose(self, draft: Draft) -> Choice:
        """How many of the tokens of ``draft`` to send; 0: none of them pay."""

    def asked(self, source: str) -> bool:
        """Whether ``source`` may speak this time; asked once a step."""

    def stepped(self, cost: StepCost) -> None:
        """A step ended, with or without a draft."""

    def head(self, seconds: float) -> None:
        """The device chose from one state."""

    def seen(self, draft: Draft, right: int, *, wrong: bool) -> None:
        """What would have become of a draft that was not sent."""

    def judged(self, draft: Draft, accepted: int, cost: StepCost | None) -> None:
        """So many tokens of ``draft`` were chosen; ``cost``: of the step that carried it."""


class FixedLength:
    """Always ``count`` tokens, where there is a guess."""

    def __init__(self, count: int) -> None:
        self._count = count

    def choose(self, draft: Draft) -> Choice:
        """As :meth:`DraftLength.choose`: the longest match comes first."""
        return Choice(min(self._count, len(draft.tokens)), 1.0 / (1 + draft.match))

    def asked(self, source: str) -> bool:  # noqa: ARG002
        """As :meth:`DraftLength.asked`."""
        return True

    def stepped(self, cost: StepCost) -> None:
        """Learns nothing."""

    def head(self, seconds: float) -> None:
        """Learns nothing."""

    def seen(self, draft: Draft, right: int, *, wrong: bool) -> None:
        """Learns nothing."""

    def judged(self, draft: Draft, accepted: int, cost: StepCost | None) -> None:
        """Learns nothing."""


class AdaptiveLength:
    """As long as the expected tokens per second rise, by what steps cost and guesses were worth.

    ``costs``: what steps cost, those that are learned from them where None is given."""

    def __init__(self, costs: StepCosts | None = None) -> None:
        self.costs = StepCosts() if costs is None else costs
        self.acceptance = Acceptance()
        self._silence = Silence()

    def choose(self, draft: Draft) -> Choice:
        """As :meth:`DraftLength.choose`."""
        accepted = self.acceptance.of(draft.source, draft.match)
        plain = self.costs.step
        if accepted < _LEAST_ACCEPTED or not self.costs.known:
            return Choice(0, plain)
        best, sized = Choice(0, plain), Choice(0, plain)
        expected = chance = 1.0
        for count in range(1, len(draft.tokens) + 1):
            chance *= accepted
            expected += chance
            if count + 1 > _MOST_ROWS * expected:
                continue
            choice = Choice(count, self.costs.of(count + 1) / expected)
            if choice.seconds < best.seconds:
                best = choice
            if count + 1 in _SIZES and choice.seconds < sized.seconds:
                sized = choice
        if sized.count and sized.seconds <= best.seconds * (1.0 + _BETTER):
            best = sized
        worth = plain - best.seconds > _WORTH * (plain + self.costs.head)
        return best if worth else Choice(0, plain)

    def asked(self, source: str) -> bool:
        """As :meth:`DraftLength.asked`."""
        return self._silence.asked(source)

    def stepped(self, cost: StepCost) -> None:
        """As :meth:`DraftLength.stepped`."""
        self.costs.stepped(cost)

    def head(self, seconds: float) -> None:
        """As :meth:`DraftLength.head`."""
        self.costs.chose(seconds)

    def seen(self, draft: Draft, right: int, *, wrong: bool) -> None:
        """As :meth:`DraftLength.seen`."""
        self.acceptance.saw(draft.source, draft.match, right, wrong=wrong)

    def judged(self, draft: Draft, accepted: int, cost: StepCost | None) -> None:
        """As :meth:`DraftLength.judged`."""
        count = len(draft.tokens)
        self.acceptance.saw(draft.source, draft.match, accepted, wrong=accepted < count)
        if cost is None:
            return
        # Rows that were no draft would have been sent all the same.
        without = self.costs.unqueued(cost.rows - count)
        took = cost.seconds - min(cost.queue, cost.seconds)
        more = (took - without) / max(self.costs.step, _SHORTEST)
        self._silence.cost(draft.source, min(more, _MOST_LOST) - accepted)
