"""A worker's place: the process that fills it may die and is replaced; its sessions are rebuilt."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

from split_server.adapter_host.errors import HostUnusable, WorkerLost
from split_server.adapter_host.limits import HostLimits
from split_server.adapter_host.messages import Job, JobAnswer, Torn
from split_server.adapter_host.process import WorkerProcess, WorkerProgram

_log = logging.getLogger(__name__)
# A process that dies again right after its start is not started in a tight loop.
_REST_SECONDS = 1.0


class Place:
    """One job at a time; ``adapters``: the jobs that a fresh process begins with.

    ``installed``: sessions whose key the present process has. ``losses``: processes that died.
    """

    def __init__(
        self,
        program: WorkerProgram,
        limits: HostLimits,
        adapters: Sequence[Job],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._program, self._limits, self._adapters, self._clock = program, limits, adapters, clock
        self._process: WorkerProcess | None = None
        self._turn = asyncio.Lock()
        self._rest_until = 0.0
        self._dropped: list[bytes] = []
        self._closed = False
        self.installed: set[bytes] = set()
        self.losses = 0

    @property
    def pid(self) -> int | None:
        """The present process, None between two."""
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Fill the place. Raises HostUnusable."""
        async with self._turn:
            try:
                await self._fill()
            except (Torn, OSError) as error:
                self._empty()
                raise HostUnusable(str(error)) from error

    async def run(self, job: Job, key: Job | None = None) -> JobAnswer:
        """The answer to ``job``; ``key`` is what its session begins with, sent when the process
        does not have it. Raises WorkerLost.
        """
        async with self._turn:
            try:
                await self._fill()
            except (Torn, OSError) as error:
                self._lose(str(error))
                raise WorkerLost(_REST_SECONDS, under_way=False) from error
            except asyncio.CancelledError:
                # A process that is half prepared would answer later jobs with what it owes.
                self._empty()
                raise
            try:
                if key is not None and key.session not in self.installed:
                    answer = await self._ask(key)
                    if answer.status != "ok":
                        return answer
                return await self._ask(job)
            except Torn as error:
                self._lose(str(error))
                raise WorkerLost from error
            except asyncio.CancelledError:
                # The answer would be taken for the next job's.
                self._empty()
                raise

    def drop(self, session: bytes) -> None:
        """Forget a session's key with the next job."""
        if session in self.installed:
            self.installed.discard(session)
            self._dropped.append(session)

    def close(self) -> None:
        """End the process."""
        self._closed = True
        self._empty()

    async def _fill(self) -> None:
        if self._process is not None:
            return
        if self._closed or self._clock() < self._rest_until:
            raise WorkerLost(_REST_SECONDS, under_way=False)
        self._rest_until = self._clock() + _REST_SECONDS
        process = self._process = await WorkerProcess.start(self._program, self._limits)
        if self._closed:
            self._empty()
            raise WorkerLost(_REST_SECONDS, under_way=False)
        for job in self._adapters:
            answer = await process.ask(job, self._limits.start_seconds)
            if answer.status != "ok":
                raise Torn(f"adapter {job.name!r} is refused: {answer.payload.decode('ascii')}")

    async def _ask(self, job: Job) -> JobAnswer:
        if self._process is None:
            raise Torn("there is no process")
        dropped, self._dropped = tuple(self._dropped), []
        if dropped:
            job = Job(job.kind, job.session, job.name, job.parts, dropped)
        answer = await self._process.ask(job, self._limits.wall_seconds)
        if job.kind == "key" and answer.status == "ok":
            self.installed.add(job.session)
        return answer

    def _lose(self, reason: str) -> None:
        self.losses += 1
        status = self._empty()
        _log.warning("an adapter worker was lost (%s, status %s) and is replaced", reason, status)

    def _empty(self) -> int | None:
        process, self._process = self._process, None
        self.installed.clear()
        self._dropped.clear()
        return None if process is None else process.end()
