"""Vital signs of the model's thread, written by it and read by whoever is asked for them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from split_server.engine.pending import PendingStep
from split_wire.errors import ModelStopped

_log = logging.getLogger(__name__)
# What has ended the work twice will most likely end it again.
_MOST_RESTARTS = 1


def all_undone(steps: Iterable[PendingStep]) -> bool:
    """Fail ``steps``; whether all their caches are as before them."""
    undone = True
    for step in steps:
        try:
            step.fail(ModelStopped())
        # The step was told; the others are, too.
        except BaseException:  # noqa: BLE001
            undone = False
    return undone


@dataclass(slots=True)
class Vitals:
    """``faults``: how often an error has ended the thread's work; ``stopped``: whether it serves
    nobody any more.
    """

    faults: int = 0
    stopped: bool = False

    def fault(self, error: BaseException) -> None:
        """``error`` has ended the thread's work."""
        self.faults += 1
        self.stopped = self.faults > _MOST_RESTARTS
        _log.critical("the model's thread was ended by a fault", exc_info=error)

    def judge(self, *, sound: bool) -> bool:
        """Whether to begin once more; ``sound``: nothing of the fault is left in any cache."""
        self.stopped = self.stopped or not sound
        if self.stopped:
            _log.critical("the model stays stopped; every step is refused. Restart the server")
        else:
            _log.error("the model's thread goes on; the steps that waited were refused")
        return not self.stopped
