"""The steps of a session that were sent and not answered, in their order."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from split_wire.attention import AttentionRequest
from split_wire.errors import MalformedMessage, StepConflict
from split_wire.messages import Failure, Result, Step

# Steps of one prefill that may be under way.
MOST_STEPS = 4


@dataclass(frozen=True, slots=True)
class SentStep:
    """``digests``: the chain after each of its rows; ``frame``: the bytes to send again;
    ``attention``: what the device makes of the attention that the step asks for.
    """

    step: Step
    digests: list[bytes]
    frame: bytes
    attention: AttentionRequest | None = None

    @property
    def end(self) -> int:
        """Positions that are cached once it went through."""
        return self.step.end


class StepsUnderWay:
    """A server keeps the last reply alone, so that after a lost connection it answers an earlier
    step with ``step_conflict``. Such a step counts as answered once a later one is, whose
    ``prefix`` proves both.
    """

    def __init__(self) -> None:
        self._steps: deque[SentStep] = deque()
        self._conflicts: list[Failure] = []

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def frames(self) -> list[bytes]:
        """Those that await an answer, to send again after a lost connection."""
        return [sent.frame for sent in self._waiting]

    @property
    def last(self) -> SentStep:
        """The one that was sent last. Raises IndexError."""
        return self._steps[-1]

    @property
    def _waiting(self) -> list[SentStep]:
        return [*self._steps][len(self._conflicts) :]

    def add(self, sent: SentStep) -> None:
        """One more was sent."""
        self._steps.append(sent)

    def clear(self) -> None:
        """None of them will be answered."""
        self._steps.clear()
        self._conflicts.clear()

    def answered(self, result: Result) -> list[SentStep]:
        """The steps that ``result`` answers, the oldest first; none where it is about others.

        Changes nothing. Raises MalformedMessage for an answer that comes before an earlier one's.
        """
        waiting = self._waiting
        if not waiting:
            return []
        if _is_of(result, waiting[0]):
            return [*self._steps][: len(self._conflicts) + 1]
        if any(_is_of(result, sent) for sent in waiting[1:]):
            raise MalformedMessage("the steps are answered in another order than they were sent")
        return []

    def done(self, count: int) -> None:
        """The oldest ``count`` are answered."""
        for _ in range(count):
            self._steps.popleft()
        self._conflicts.clear()

    def refused(self, failure: Failure) -> Failure | None:
        """What ends all of them now that ``failure`` has come; None while a later step may show
        that the refused one went through.
        """
        waiting = self._waiting
        if failure.code == StepConflict.code and len(waiting) > 1:
            self._conflicts.append(failure)
            return None
        # What the session holds is not known any more where an earlier step had a conflict.
        return self._conflicts[0] if self._conflicts else failure

    def is_about(self, failure: Failure) -> bool:
        """Whether ``failure`` answers the oldest one that waits.

        One without a session or a step answers bytes that the server could not read as a message,
        and these are all that the device has sent.
        """
        waiting = self._waiting
        if not waiting:
            return False
        step = waiting[0].step
        return failure.session in (None, step.session) and failure.step in (None, step.step)


def _is_of(result: Result, sent: SentStep) -> bool:
    """A number is used again after a failure; only the digest tells which rows an answer is of."""
    named = (result.session, result.step) == (sent.step.session, sent.step.step)
    return named and result.prefix in (b"", sent.digests[-1])
