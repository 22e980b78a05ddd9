"""Checks of forms before a reply begins: few at a time, by turns of principals, remembered.

A check that began goes on when its request has left, so that its place is free only once nothing of
it runs any more.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from split_client.grammar.errors import refusal
from split_server.compat.grammars.limits import GrammarLimits
from split_wire.errors import Overloaded

# Of a principal's own, so that nobody learns which forms others use.
_Key: TypeAlias = tuple[str, bytes]
# Code and reason of a refusal, None for a form that will do.
Verdict: TypeAlias = tuple[str, str] | None


@dataclass(slots=True, eq=False)
class _Check:
    key: _Key
    form: str
    verdict: asyncio.Future[Verdict] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    readers: int = 0
    begun: bool = False


class GrammarChecks:
    """``compile_form``: the verdict on a form, JSON; it raises Overloaded where there is none.

    Lives on the event loop.
    """

    def __init__(
        self, compile_form: Callable[[str], Awaitable[Verdict]], limits: GrammarLimits
    ) -> None:
        self._compile, self._limits = compile_form, limits
        self._kept: OrderedDict[_Key, Verdict] = OrderedDict()
        self._open: dict[_Key, _Check] = {}
        self._queues: OrderedDict[str, deque[_Check]] = OrderedDict()
        self._running: dict[str, asyncio.Task[None]] = {}

    async def check(self, principal: str, form: str) -> None:
        """Raises GrammarInvalid; Overloaded when too many wait, or too long."""
        key = (principal, hashlib.sha256(form.encode()).digest())
        if key in self._kept:
            self._kept.move_to_end(key)
            verdict = self._kept[key]
        else:
            verdict = await self._awaited(self._open.get(key) or self._queued(key, form))
        if verdict is not None:
            raise refusal(*verdict)

    def close(self) -> None:
        """Give up what runs."""
        for task in self._running.values():
            task.cancel()

    async def _awaited(self, check: _Check) -> Verdict:
        check.readers += 1
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await asyncio.shield(check.verdict)
        except TimeoutError:
            raise Overloaded("the server is busy with other forms") from None
        finally:
            check.readers -= 1
            if not check.readers and not check.begun:
                self._forget(check)

    def _queued(self, key: _Key, form: str) -> _Check:
        """Raises Overloaded."""
        principal, limits = key[0], self._limits
        waiting = sum(map(len, self._queues.values()))
        own = self._queues.get(principal, ())
        if waiting >= limits.waiting or len(own) >= limits.waiting_per_principal:
            raise Overloaded("too many forms wait to be compiled")
        check = self._open[key] = _Check(key, form)
        self._queues.setdefault(principal, deque()).append(check)
        self._begin_next()
        return check

    def _begin_next(self) -> None:
        """Begin the first check of each principal in turn, while there are places."""
        for principal in list(self._queues):
            if len(self._running) >= self._limits.at_once:
                return
            if principal in self._running:
                continue
            check = self._taken(principal)
            check.begun = True
            self._running[principal] = asyncio.create_task(self._run(principal, check))

    def _taken(self, principal: str) -> _Check:
        """The principal's first check."""
        queue = self._queues[principal]
        check = queue.popleft()
        if not queue:
            del self._queues[principal]
        return check

    def _forget(self, check: _Check) -> None:
        principal = check.key[0]
        queue = self._queues.get(principal)
        self._open.pop(check.key, None)
        if queue is not None and check in queue:
            queue.remove(check)
            if not queue:
                del self._queues[principal]

    async def _run(self, principal: str, check: _Check) -> None:
        try:
            verdict = await self._compile(check.form)
        except asyncio.CancelledError:
            check.verdict.cancel()
            raise
        # Whatever it is belongs to those who wait.
        except Exception as error:  # noqa: BLE001
            check.verdict.set_exception(error)
            # Nobody may be left to retrieve it.
            check.verdict.exception()
        else:
            self._keep(check.key, verdict)
            check.verdict.set_result(verdict)
        finally:
            del self._open[check.key]
            del self._running[principal]
            if principal in self._queues:
                self._queues.move_to_end(principal)
            self._begin_next()

    def _keep(self, key: _Key, verdict: Verdict) -> None:
        self._kept[key] = verdict
        while len(self._kept) > self._limits.kept:
            self._kept.popitem(last=False)
