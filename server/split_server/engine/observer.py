"""The interface through which the engine tells its work to whoever counts it."""

from __future__ import annotations

from split_server.engine.job import Outcome, StepJob
from split_server.engine.scheduler import Plan


class StepObserver:
    """Does nothing by itself. Calls must not raise and must take microseconds: all but
    :meth:`posted` run on the model thread.
    """

    def posted(self) -> None:
        """A step was queued; called by whoever posts it."""

    def passed(self, plan: Plan, seconds: float) -> None:
        """A pass served the rows of ``plan``."""

    def ended(self, job: StepJob, queued_at: float, outcome: Outcome) -> None:
        """A step is about to be answered; ``queued_at`` in seconds of the engine's clock."""
