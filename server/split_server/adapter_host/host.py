"""The adapter host without sockets: sessions with keys, numbered queries, budgets, workers.

It sees ciphertexts, public keys and their sizes, never a hidden state, a secret key or a result.
Everything here runs on the event loop; what parses bytes of devices runs in workers.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from split_masks.ranges import RangeFile
from split_server.adapter_host.answers import taken
from split_server.adapter_host.budget import QueryBudget
from split_server.adapter_host.errors import KeyConflict, KeyMissing, QueryConflict, WorkerLost
from split_server.adapter_host.limits import HostLimits
from split_server.adapter_host.masks.desk import MaskDesk
from split_server.adapter_host.masks.terms import MaskTerms
from split_server.adapter_host.messages import Job, JobAnswer
from split_server.adapter_host.pool import WorkerPool
from split_server.adapter_host.process import WorkerProgram
from split_server.adapter_host.sessions import HostSession, SessionTable
from split_server.adapter_host.shapes import Terms
from split_server.adapter_host.strikes import Strikes
from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.listing import listing
from split_wire.errors import ShuttingDown, UnknownAdapter, UnknownSession

# A session whose bytes cost this many workers is not given another one.
_STRIKES = 2
TermsOf = Callable[[AdapterFile], Terms]


@dataclass(frozen=True, slots=True)
class HostedAdapter:
    """An adapter and what travels for it."""

    file: AdapterFile
    terms: Terms


class AdapterHost:
    """``terms``: what travels for an adapter; ``program``: what workers run; ``ranges``: where the
    numbers of masks are written down, None: no masks are made. Raises MasksError for that file.
    """

    def __init__(
        self,
        adapters: Mapping[str, AdapterFile],
        terms: TermsOf,
        budget: QueryBudget,
        limits: HostLimits | None = None,
        program: WorkerProgram | None = None,
        ranges: RangeFile | None = None,
    ) -> None:
        self.limits = limits or HostLimits()
        self.budget = budget
        self._adapters = {name: HostedAdapter(file, terms(file)) for name, file in adapters.items()}
        jobs = [_loading(hosted) for hosted in self._adapters.values()]
        self.pool = WorkerPool(program or WorkerProgram(), self.limits, jobs)
        self.sessions = SessionTable(self.limits, self._ended)
        self.strikes = Strikes(self.limits.strikes_per_principal, self.limits.strike_seconds)
        served = {name: (hosted.file, hosted.terms) for name, hosted in self._adapters.items()}
        self._mask_terms = MaskTerms.of(served, ranges)
        self._masks = MaskDesk(self._mask_terms, self.limits, budget, self._mask)
        self._stopping = False

    async def start(self) -> None:
        """Start the workers. Raises HostUnusable."""
        await self.pool.start()

    async def stop(self) -> None:
        """Refuse what is new, let queries under way finish, then :meth:`close`."""
        self._stopping = True
        under_way = [task for task in self.sessions.answers() if not task.done()]
        if under_way:
            await asyncio.wait(under_way)
        self.close()

    def close(self) -> None:
        """End the workers and write the counts, whatever is under way."""
        self._stopping = True
        self.pool.close()
        self.budget.close()

    def listing(self) -> dict[str, Any]:
        """The document of all adapters."""
        return listing({name: hosted.file for name, hosted in self._adapters.items()}, he=True)

    def adapter(self, name: str) -> HostedAdapter:
        """Raises UnknownAdapter."""
        hosted = self._adapters.get(name)
        if hosted is None:
            raise UnknownAdapter(name)
        return hosted

    def open(self, principal: str, name: str) -> dict[str, Any]:
        """Begin a session; what the device is told. Raises UnknownAdapter, TooManySessions,
        ShuttingDown."""
        hosted = self.adapter(name)
        self._refuse_when_stopping()
        session = self.sessions.open(principal, name, self.pool.seat)
        return {
            "session": session.id,
            "host_nonce": session.host_nonce,
            "packing": dict(hosted.terms.packing),
            "queries_left": self.budget.left(principal, name),
            "masks": self._masks.offered(name),
        }

    async def set_key(
        self, principal: str, name: str, session_id: bytes, nonce: bytes, public: bytes
    ) -> None:
        """Give a session its key; the same key again changes nothing.

        Raises UnknownSession, KeyConflict, MalformedKey, Overloaded, WorkerLost, WorkersSpent.
        """
        self._refuse_when_stopping()
        session = self.sessions.find(principal, name, session_id)
        if session.key == (nonce, public):
            return
        if session.key is not None or session.keying:
            raise KeyConflict
        session.keying = True
        try:
            job = Job("key", session.id, name, (session.host_nonce, nonce, public))
            taken(await self._run(session, job, None), 0)
            session.key = (nonce, public)
        finally:
            session.keying = False

    async def evaluate(
        self, principal: str, name: str, session_id: bytes, number: int, query: bytes
    ) -> bytes:
        """The reply to query ``number`` of a session. The same bytes again spend nothing.

        Raises UnknownSession, KeyMissing, QueryConflict, BudgetExhausted, MalformedCiphertext,
        Overloaded, WorkerLost, WorkersSpent, HostStateUnusable; after these the same number may
        come again.
        """
        self._refuse_when_stopping()
        session = self.sessions.find(principal, name, session_id)
        if session.key is None:
            raise KeyMissing
        fingerprint = hashlib.blake2b(query, digest_size=32).digest()
        if session.answer is None or number != session.number:
            self._admit(session, number)
            self.budget.spend(principal, name)
            session.number, session.fingerprint = number, fingerprint
            session.answer = asyncio.create_task(self._answer(session, query))
        elif fingerprint != session.fingerprint:
            raise QueryConflict(number, session.number + 1)
        # Somebody who hangs up does not take the answer from the same query sent again.
        return await asyncio.shield(session.answer)

    async def reserve(
        self, principal: str, name: str, session_id: bytes, ordinal: int, count: int
    ) -> bytes:
        """Numbers for masks of a session (:meth:`MaskDesk.reserve`). Raises UnknownSession too."""
        self._refuse_when_stopping()
        session = self.sessions.find(principal, name, session_id)
        return await self._masks.reserve(session, ordinal, count)

    async def make_mask(
        self, principal: str, name: str, session_id: bytes, number: int, query: bytes
    ) -> bytes:
        """A mask for an encrypted r (:meth:`MaskDesk.make`). Raises UnknownSession too."""
        self._refuse_when_stopping()
        session = self.sessions.find(principal, name, session_id)
        return await self._masks.make(session, number, query)

    def masked(
        self, principal: str, name: str, session_id: bytes, number: int, state: bytes
    ) -> bytes:
        """What a masked state becomes (:meth:`MaskDesk.apply`). Raises UnknownSession too."""
        self._refuse_when_stopping()
        session = self.sessions.find(principal, name, session_id)
        return self._masks.apply(session, number, state)

    async def end(self, principal: str, name: str, session_id: bytes) -> None:
        """End a session that its device does not need any more, once nothing is under way for it.

        Raises UnknownSession, KeyMissing.
        """
        session = self.sessions.find(principal, name, session_id)
        if session.keying:
            raise KeyMissing
        if session.answer is not None:
            await asyncio.wait([session.answer])
        self.sessions.drop(session)

    def _refuse_when_stopping(self) -> None:
        if self._stopping:
            raise ShuttingDown

    def _admit(self, session: HostSession, number: int) -> None:
        if number != session.number + 1 or session.busy:
            raise QueryConflict(number, session.number + 1)

    async def _answer(self, session: HostSession, query: bytes) -> bytes:
        try:
            await self.budget.secure(session.principal, session.adapter)
            job = Job("evaluate", session.id, session.adapter, (query,))
            answer = await self._run(session, job, self._key_job(session))
            return taken(answer, self._adapters[session.adapter].terms.reply)
        except BaseException:
            # It was not answered: the number is free again and nothing is spent.
            self.budget.give_back(session.principal, session.adapter)
            session.number, session.answer = session.number - 1, None
            raise

    async def _mask(self, session: HostSession, query: bytes) -> tuple[bytes, bytes]:
        """The reply to an encrypted r, and what is kept of the mask."""
        name = session.adapter
        reply = self._adapters[name].terms.reply
        job = Job("mask", session.id, name, (query,))
        answer = await self._run(session, job, self._key_job(session))
        payload = taken(answer, reply + self._mask_terms.kept_bytes(name))
        return payload[:reply], payload[reply:]

    async def _run(self, session: HostSession, job: Job, key: Job | None) -> JobAnswer:
        self.strikes.admit(session.principal)
        try:
            return await self.pool.run(session.place, session.principal, job, key)
        except WorkerLost as lost:
            if lost.under_way:
                session.strikes += 1
                self.strikes.add(session.principal)
            if session.strikes >= _STRIKES:
                self.sessions.drop(session)
                raise UnknownSession from lost
            raise

    def _key_job(self, session: HostSession) -> Job:
        if session.key is None:
            raise KeyMissing
        nonce, public = session.key
        return Job("key", session.id, session.adapter, (session.host_nonce, nonce, public))

    def _ended(self, session: HostSession) -> None:
        self._masks.drop(session.id)
        self.pool.leave(session.place, session.id)


def _loading(hosted: HostedAdapter) -> Job:
    packing = json.dumps(dict(hosted.terms.packing)).encode()
    return Job("load", b"", hosted.file.name, (packing, hosted.file.a.astype("<f4").tobytes()))
