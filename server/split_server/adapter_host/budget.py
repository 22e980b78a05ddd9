"""The count of each principal's queries of an adapter, over restarts where a folder is given.

A linear map of width d is known to whoever has seen about d independent outputs, so the count is
what an adapter's owner can bound. What is on disk is never below what was spent: queries are
written down in blocks before they are computed, and the exact count when the host stops. A disk may
take long, so a thread writes while the event loop goes on.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from split_client.owner_file import write_whole
from split_files import DocumentInvalid, is_version, parse_document, read_regular, take_lock
from split_server.adapter_host.errors import BudgetExhausted, HostStateUnusable

_BLOCK = 64
_MAX_BYTES = 16 << 20
_MAX_COUNTS = 1 << 19
_VERSION = 1
_FILE, _LOCK = "queries.json", "queries.lock"
Counts = dict[str, dict[str, int]]


class StateFile:
    """``queries.json`` in ``folder``, held by one host at a time."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self._writing, self._closed = threading.Lock(), False
        self._lock = _locked(folder)

    def read(self) -> Counts:
        """The counts by principal and adapter; none where there is no file yet.

        Raises HostStateUnusable; then another host may have the folder.
        """
        try:
            return self._read()
        except BaseException:
            self.close()
            raise

    def _read(self) -> Counts:
        try:
            document = parse_document(read_regular(self._path, _MAX_BYTES), _MAX_COUNTS)
        except FileNotFoundError:
            return {}
        except (OSError, DocumentInvalid) as error:
            raise HostStateUnusable(self._path, _reason(error)) from error
        counts = _checked(document)
        if counts is None:
            raise HostStateUnusable(self._path, "it is not what this program writes")
        return counts

    def write(self, counts: Counts) -> None:
        """Replace the file as a whole, from any thread. Raises HostStateUnusable."""
        with self._writing:
            if self._closed:
                raise HostStateUnusable(self._path, "this host has let go of it")
            self._replace(counts)

    def _replace(self, counts: Counts) -> None:
        document = json.dumps({"version": _VERSION, "queries": counts}).encode()
        try:
            write_whole(self._path, document)
        except OSError as error:
            raise HostStateUnusable(self._path, _reason(error)) from error

    def close(self) -> None:
        """Let another host have it; nothing is written any more."""
        with self._writing:
            self._closed = True
            self._lock.close()


class QueryBudget:
    """``limit``: queries of one principal and adapter, 0 for no limit. For one event loop."""

    def __init__(self, limit: int, state: StateFile | None = None) -> None:
        self.limit = limit
        self._state = state
        self._turn = asyncio.Lock()
        self._written: Counts = {} if state is None else state.read()
        self._spent: Counts = {name: dict(counts) for name, counts in self._written.items()}

    def left(self, principal: str, adapter: str) -> int | None:
        """Queries that remain; None without a limit."""
        if not self.limit:
            return None
        return max(0, self.limit - self._spent.get(principal, {}).get(adapter, 0))

    def spend(self, principal: str, adapter: str, count: int = 1) -> None:
        """Count queries, which may be computed after :meth:`secure`. Raises BudgetExhausted where
        not all of them are left.
        """
        left = self.left(principal, adapter)
        if left is not None and left < count:
            raise BudgetExhausted(adapter, self.limit)
        spent = self._spent.get(principal, {}).get(adapter, 0) + count
        self._spent.setdefault(principal, {})[adapter] = spent

    async def secure(self, principal: str, adapter: str) -> None:
        """Return when the queries that were counted are on disk too. Raises HostStateUnusable."""
        if not self._on_disk(principal, adapter):
            # Somebody who stops waiting must not let a later write overtake this one.
            await asyncio.shield(asyncio.create_task(self._write_ahead(principal, adapter)))

    def give_back(self, principal: str, adapter: str) -> None:
        """Uncount a query that was not answered."""
        self._spent[principal][adapter] -= 1

    def close(self) -> None:
        """Write the exact counts and let another host have the file; safe to call twice."""
        state, self._state = self._state, None
        if state is not None:
            # Too many were written down before; the next start begins with those.
            with suppress(HostStateUnusable):
                state.write(self._spent)
            state.close()

    def _on_disk(self, principal: str, adapter: str) -> bool:
        spent = self._spent.get(principal, {}).get(adapter, 0)
        return self._state is None or spent <= self._written.get(principal, {}).get(adapter, 0)

    async def _write_ahead(self, principal: str, adapter: str) -> None:
        async with self._turn:
            state = self._state
            if state is None or self._on_disk(principal, adapter):
                return
            counts = self._ahead()
            await asyncio.to_thread(state.write, counts)
            self._written = counts

    def _ahead(self) -> Counts:
        """The written counts, with a block more for each that has outgrown it."""
        block = min(_BLOCK, 1 + self.limit // 100) if self.limit else _BLOCK
        counts = {name: dict(of_name) for name, of_name in self._written.items()}
        for principal, of_adapters in self._spent.items():
            written = counts.setdefault(principal, {})
            for adapter, spent in of_adapters.items():
                if spent > written.get(adapter, 0):
                    written[adapter] = spent - 1 + block
        return counts


def _locked(folder: Path) -> BinaryIO:
    path = folder / _LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return take_lock(path, wait=False)
    except BlockingIOError as error:
        raise HostStateUnusable(path, "another adapter host uses this folder") from error
    except OSError as error:
        raise HostStateUnusable(path, _reason(error)) from error


def _reason(error: OSError | DocumentInvalid) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _checked(document: object) -> Counts | None:
    match document:
        case {"version": version, "queries": dict(queries)} if is_version(version, _VERSION):
            for entry in _entries(queries):
                if entry is None:
                    return None
            return queries
    return None


def _entries(queries: dict[str, object]) -> Iterator[int | None]:
    for counts in queries.values():
        if not isinstance(counts, dict):
            yield None
            return
        for count in counts.values():
            valid = isinstance(count, int) and not isinstance(count, bool) and count >= 0
            yield count if valid else None
