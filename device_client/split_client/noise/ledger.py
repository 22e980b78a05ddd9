"""The record of what noise has cost, across conversations, models, processes and restarts.

Every change is one read, check and write under a lock between processes, and is on disk before the
rows that it is for may leave. A file that cannot be trusted is an error and stays as it is.
"""

from __future__ import annotations

import fcntl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from split_client.noise.errors import BudgetExhausted, LedgerBusy, LedgerDamaged, LedgerFailed
from split_client.noise.ledger_file import Accounts, read_ledger, write_ledger
from split_client.noise.spent import Budget, Count, Kind, Spent

LOCK_SECONDS = 10.0
_LOCK_PAUSE = 0.01


class Ledger:
    """The ledger at ``path``; folder and file come about with the first charge.

    Opening raises LedgerDamaged, LedgerFailed.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.path = path
        self._clock, self._pause = clock, pause
        self._existed = False
        self._read()

    def spent(self, identity: str) -> Spent:
        """By ``identity`` with all models. Raises LedgerDamaged, LedgerFailed."""
        return Spent.total(self._read().get(identity, {}).values())

    def spent_on(self, identity: str, model: str) -> Spent:
        """By ``identity`` with one model. Raises LedgerDamaged, LedgerFailed."""
        return self._read().get(identity, {}).get(model, Spent())

    def charge(
        self,
        identity: str,
        model: str,
        kind: Kind,
        count: Count,
        *,
        ahead: int = 0,
        budget: Budget | None = None,
    ) -> int:
        """Record ``count`` and up to ``ahead`` further rows; returns how many of those.

        All or nothing of ``count``: raises BudgetExhausted where it does not fit into what all
        models together have left, LedgerBusy, LedgerDamaged, LedgerFailed. It is durable when this
        returns.
        """
        with self._locked():
            accounts = self._read()
            models = accounts.setdefault(identity, {})
            if budget is not None:
                spent = Spent.total(models.values())
                room = budget.room(spent, kind, count.rows + ahead)
                if room < count.rows:
                    used = spent.epsilon(budget.delta)
                    raise BudgetExhausted(budget.epsilon, used, budget.delta, count.rows, room)
                ahead = room - count.rows
            total = Count(count.rows + ahead, count.sendings)
            models[model] = models.get(model, Spent()).plus(kind, total)
            self._write(accounts)
        return ahead

    def give_back(self, identity: str, model: str, kind: Kind, rows: int) -> None:
        """Take back ``rows`` that were recorded ahead and never sent. Raises as a charge."""
        with self._locked():
            accounts = self._read()
            models = accounts.get(identity, {})
            held = dict(models.get(model, Spent()).counts).get(kind, Count())
            if held.rows < rows:
                raise LedgerDamaged(self.path, "it counts fewer rows than were recorded")
            models[model] = models[model].plus(kind, Count(-rows))
            self._write(accounts)

    def _read(self) -> Accounts:
        accounts = read_ledger(self.path)
        if accounts is None:
            if self._existed:
                raise LedgerDamaged(self.path, "it has disappeared")
            return {}
        self._existed = True
        return accounts

    def _write(self, accounts: Accounts) -> None:
        write_ledger(self.path, accounts)
        self._existed = True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone among processes; the system gives the lock back however a process ends."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = self.path.with_name(f"{self.path.name}.lock").open("ab")
        except OSError as error:
            raise LedgerFailed(self.path, error.strerror or str(error)) from error
        with file:
            deadline = self._clock() + LOCK_SECONDS
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if self._clock() >= deadline:
                        raise LedgerBusy(self.path) from None
                    self._pause(_LOCK_PAUSE)
            yield
