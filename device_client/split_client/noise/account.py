"""One mechanism's spending: rows are recorded before they leave, single rows a few ahead.

Writing the ledger waits for the disk. So the rows of a reply, which come one by one, are recorded
in advance, and what was not sent is given back at the end. A process that is killed leaves them
recorded: the ledger then counts more than was sent, never less. A process that forks leaves what
is ahead to its parent.
"""

from __future__ import annotations

import os

from split_client.noise.errors import BudgetExhausted
from split_client.noise.ledger import Ledger
from split_client.noise.spent import Budget, Count, Kind, Spent

ROWS_AHEAD = 64


class Account:
    """Charges to ``identity`` in ``ledger`` for rows of one ``kind`` sent to ``model``."""

    def __init__(
        self, ledger: Ledger, identity: str, model: str, kind: Kind, budget: Budget | None
    ) -> None:
        self._ledger, self._model = ledger, model
        self.identity = identity
        self.kind = kind
        self.budget = budget
        self._ahead, self._pid = 0, os.getpid()

    def spend(self, count: Count) -> None:
        """Record ``count``, durably, before it is sent.

        Raises BudgetExhausted and the ledger's errors; nothing may be sent then.
        """
        self._own()
        if count.sendings == 0 and count.rows <= self._ahead:
            self._ledger.require_unturned()
            self._ahead -= count.rows
            return
        # What is ahead pays for its part, so that a budget's last rows can be used.
        paid = min(self._ahead, count.rows)
        needed = Count(count.rows - paid, count.sendings)
        self._ahead -= paid
        try:
            more = max(0, ROWS_AHEAD - self._ahead) if count.rows == 1 else 0
            self._ahead += self._ledger.charge(
                self.identity, self._model, self.kind, needed, ahead=more, budget=self.budget
            )
        except BaseException:
            self._ahead += paid
            raise

    def spent(self) -> Spent:
        """By this identity with all models, without what is recorded ahead here."""
        self._own()
        spent = self._ledger.spent(self.identity)
        return spent.plus(self.kind, Count(-self._ahead)) if self._ahead else spent

    def require_room(self) -> None:
        """Raises BudgetExhausted where the budget does not allow one row more."""
        budget = self.budget
        if budget is None or budget.room(self.spent(), self.kind, 1):
            return
        raise BudgetExhausted(
            budget.epsilon, self.spent().epsilon(budget.delta), budget.delta, 1, 0
        )

    def close(self) -> None:
        """Give back what was recorded ahead; safe to call twice. Raises the ledger's errors."""
        self._own()
        if self._ahead:
            ahead, self._ahead = self._ahead, 0
            self._ledger.give_back(self.identity, self._model, self.kind, ahead)

    def _own(self) -> None:
        """What a parent process recorded ahead is the parent's to send."""
        if self._pid != os.getpid():
            self._ahead, self._pid = 0, os.getpid()
