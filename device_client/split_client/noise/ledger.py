"""The record of what noise has cost, across conversations, models, processes and restarts.

Every change is one read, check and write under a lock between processes, and is on disk before the
rows that it is for may leave. A file that cannot be trusted is an error and stays as it is. Changes
are numbered: a file with a lower number than this process or this machine has seen was turned back.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from split_client.noise import device
from split_client.noise.errors import (
    BudgetExhausted,
    LedgerDamaged,
    LedgerFailed,
    LedgerTurnedBack,
)
from split_client.noise.floor import Floor, Floors
from split_client.noise.ledger_file import MOST_DEVICES, Record, read_ledger, write_ledger
from split_client.noise.ledger_lock import locked
from split_client.noise.spent import Budget, Count, Kind, Spent
from split_client.owner_file import reason

# What changes about a file whenever its content may have.
_Stamp: TypeAlias = tuple[int, int, int, int]


class Ledger:
    """The ledger at ``path``, links resolved; folder and file come about with the first charge.

    ``floors``: what this machine has seen of ledgers; None: this user's. Opening raises
    LedgerDamaged, LedgerTurnedBack, LedgerFailed.
    """

    def __init__(
        self,
        path: Path,
        *,
        floors: Floors | None = None,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        try:
            # Written by another name, a link would become a file of its own.
            self.path = path.resolve()
        except (OSError, RuntimeError) as error:
            raise LedgerFailed(path, str(error)) from error
        self._clock, self._pause = clock, pause
        self._floors = floors or Floors()
        self._seen: tuple[str, Floor] | None = None
        self._stamp: _Stamp | None = None
        self.elsewhere = False
        """Whether another device has written this file, of which a copy may go on there."""
        self._read()

    def spent(self, identity: str) -> Spent:
        """By ``identity`` with all models. Raises LedgerDamaged, LedgerFailed."""
        return Spent.total(self._read().accounts.get(identity, {}).values())

    def spent_on(self, identity: str, model: str) -> Spent:
        """By ``identity`` with one model. Raises LedgerDamaged, LedgerFailed."""
        return self._read().accounts.get(identity, {}).get(model, Spent())

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
            record = self._read()
            models = record.accounts.setdefault(identity, {})
            if budget is not None:
                spent = Spent.total(models.values())
                room = budget.room(spent, kind, count.rows + ahead)
                if room < count.rows:
                    used = spent.epsilon(budget.delta)
                    raise BudgetExhausted(budget.epsilon, used, budget.delta, count.rows, room)
                ahead = room - count.rows
            total = Count(count.rows + ahead, count.sendings)
            models[model] = models.get(model, Spent()).plus(kind, total)
            self._write(record)
        return ahead

    def give_back(self, identity: str, model: str, kind: Kind, rows: int) -> None:
        """Take back ``rows`` that were recorded ahead and never sent. Raises as a charge."""
        with self._locked():
            record = self._read()
            models = record.accounts.get(identity, {})
            held = dict(models.get(model, Spent()).counts).get(kind, Count())
            if held.rows < rows:
                raise LedgerDamaged(self.path, "it counts fewer rows than were recorded")
            models[model] = models[model].plus(kind, Count(-rows))
            self._write(record)

    def require_unturned(self) -> None:
        """Look whether the file is still what was counted in. Raises as opening does.

        For rows that were recorded before: cheap while nobody else has written.
        """
        if self._stamp is None or self._stamp != self._stamp_now():
            self._read()

    def _read(self) -> Record:
        stamp, record = self._stamp_now(), self._file()
        if not self._holds(record, self._floors.read(record.name)):
            # Another process may have counted between the look at the file and that at its floor:
            # now the floor is read first.
            floor = self._floors.read(record.name)
            stamp, record = self._stamp_now(), self._file()
            if not self._holds(record, floor):
                raise LedgerTurnedBack(self.path)
        if record.digest:
            self._saw(record, stamp)
        return record

    def _file(self) -> Record:
        record = read_ledger(self.path)
        if record is not None:
            return record
        if self._seen is not None:
            raise LedgerDamaged(self.path, "it has disappeared")
        return Record(secrets.token_hex(16))

    def _holds(self, record: Record, floor: Floor | None) -> bool:
        """Whether the file goes on from what this process and this machine (``floor``) saw."""
        if floor is not None and not floor.holds(record.serial, record.digest):
            return False
        if self._seen is None:
            return True
        name, seen = self._seen
        return name == record.name and seen.holds(record.serial, record.digest)

    def _saw(self, record: Record, stamp: _Stamp | None) -> None:
        self._seen, self._stamp = (record.name, Floor(record.serial, record.digest)), stamp
        self.elsewhere = any(named != device.device_id() for named in record.devices)

    def _write(self, record: Record) -> None:
        here = device.device_id()
        others = [named for named in record.devices if named != here]
        devices = (*others[-MOST_DEVICES + 1 :], *([here] if here else []))
        changed = replace(record, serial=record.serial + 1, devices=devices)
        written = write_ledger(self.path, changed)
        self._saw(written, self._stamp_now())
        self._floors.raise_to(written.name, Floor(written.serial, written.digest))

    def _stamp_now(self) -> _Stamp | None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerFailed(self.path, reason(error)) from error
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    def _locked(self) -> AbstractContextManager[None]:
        """Alone among processes. Raises LedgerBusy, LedgerFailed."""
        return locked(self.path, self._clock, self._pause)
