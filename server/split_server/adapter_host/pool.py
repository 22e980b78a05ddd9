"""The workers of a host: who computes for which session, and how many jobs may wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from split_server.adapter_host.limits import HostLimits
from split_server.adapter_host.messages import Job, JobAnswer
from split_server.adapter_host.place import Place
from split_server.adapter_host.process import WorkerProgram
from split_wire.errors import Overloaded


class WorkerPool:
    """``adapters``: what every worker prepares at its start. A session stays at its place."""

    def __init__(self, program: WorkerProgram, limits: HostLimits, adapters: Sequence[Job]) -> None:
        self._limits = limits
        self.places = [Place(program, limits, adapters) for _ in range(limits.processes)]
        self._sessions = [0] * len(self.places)
        self._waiting: Counter[str] = Counter()

    async def start(self) -> None:
        """Start every worker. Raises HostUnusable; then none runs."""
        try:
            for place in self.places:
                await place.start()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End every worker."""
        for place in self.places:
            place.close()

    def seat(self) -> int:
        """A place with the fewest sessions, for a new one."""
        index = self._sessions.index(min(self._sessions))
        self._sessions[index] += 1
        return index

    def leave(self, index: int, session: bytes) -> None:
        """A session ends."""
        self._sessions[index] -= 1
        self.places[index].drop(session)

    async def run(self, index: int, principal: str, job: Job, key: Job | None = None) -> JobAnswer:
        """The answer of place ``index``. Raises Overloaded at once, WorkerLost."""
        if self._waiting.total() >= self._limits.waiting:
            raise Overloaded("the adapter host has too many queries waiting")
        if self._waiting[principal] >= self._limits.waiting_per_principal:
            raise Overloaded(
                f"you may have {self._limits.waiting_per_principal} queries waiting at a time"
            )
        self._waiting[principal] += 1
        try:
            return await self.places[index].run(job, key)
        finally:
            self._waiting[principal] -= 1
            if not self._waiting[principal]:
                del self._waiting[principal]
