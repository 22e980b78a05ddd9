"""The masks of all sessions: numbers handed out, masks made in workers, states answered here.

A masked state is answered on the event loop: its bytes are numbers of one exact count, and the
work is 0.05 ms, where a worker's turn alone takes longer.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable

from split_masks.errors import MalformedNumbers
from split_masks.limits import MOST_IN_A_RANGE
from split_masks.numbers import unpack
from split_server.adapter_host.budget import QueryBudget
from split_server.adapter_host.errors import BudgetExhausted, KeyMissing
from split_server.adapter_host.limits import HostLimits
from split_server.adapter_host.masks.errors import (
    MalformedMask,
    MaskConflict,
    MaskForeign,
    MaskLost,
    MasksUnavailable,
    MaskUsed,
    TooManyMasks,
)
from split_server.adapter_host.masks.held import Repeated, SessionMasks
from split_server.adapter_host.masks.numbers import Numbers
from split_server.adapter_host.masks.terms import MaskTerms
from split_server.adapter_host.sessions import HostSession

# The payload of a query's job for a mask: the reply, then s.
Make = Callable[[HostSession, bytes], Awaitable[tuple[bytes, bytes]]]


class MaskDesk:
    """``make``: a worker's reply to an encrypted r, and s. Raises MasksError for a damaged file."""

    def __init__(
        self, terms: MaskTerms, limits: HostLimits, budget: QueryBudget, make: Make
    ) -> None:
        self._terms, self._limits, self._budget, self._make_one = terms, limits, budget, make
        self._held: dict[bytes, SessionMasks] = {}
        self._numbers = Numbers(terms.ranges)

    def offered(self, adapter: str) -> int:
        """Masks that one principal may hold of ``adapter``; 0: none are made."""
        if self._terms.ranges is None or adapter not in self._terms.matrices:
            return 0
        return self._limits.masks_per_principal

    async def reserve(self, session: HostSession, ordinal: int, count: int) -> bytes:
        """Range ``ordinal`` (from 1) of a session: up to ``count`` numbers, each a unit of the
        budget that never comes back. The same again is answered from memory.

        Raises MaskConflict, MalformedMask, TooManyMasks, BudgetExhausted, MasksUnavailable,
        HostStateUnusable.
        """
        if session.key is None:
            raise KeyMissing
        if not self.offered(session.adapter):
            raise MasksUnavailable
        if not 0 < count <= MOST_IN_A_RANGE:
            raise MalformedMask(f"a range has 1 to {MOST_IN_A_RANGE} numbers, not {count}")
        masks = self._masks(session)
        asked = masks.reserving
        task = asked.answer if ordinal == asked.number else None
        if task is None:
            under_way = asked.answer is not None and not asked.answer.done()
            if ordinal != asked.number + 1 or masks.unmade or under_way:
                raise MaskConflict("range", ordinal, asked.number + 1)
            task = asyncio.create_task(self._reserved(session, masks, count))
            masks.reserving = Repeated(ordinal, answer=task)
        return await asyncio.shield(task)

    async def make(self, session: HostSession, number: int, query: bytes) -> bytes:
        """The encrypted A r + s of mask ``number``. The same bytes again are answered from memory.

        Raises MaskConflict, MalformedCiphertext and what the queue of queries raises; after these
        the same number may come again.
        """
        masks = self._masks(session)
        fingerprint, asked = _fingerprint(query), masks.making
        task = asked.answer if number == asked.number else None
        if task is None:
            under_way = asked.answer is not None and not asked.answer.done()
            if not masks.unmade or number != masks.next or under_way:
                raise MaskConflict("mask", number, masks.next)
            task = asyncio.create_task(self._made(session, masks, number, query))
            masks.making = Repeated(number, fingerprint, task)
        elif fingerprint != asked.fingerprint:
            raise MaskConflict("mask", number, masks.next)
        return await asyncio.shield(task)

    def apply(self, session: HostSession, number: int, masked: bytes) -> bytes:
        """A (h - r) - s, once for each number. The same bytes again are answered from memory.

        Raises MaskUsed, MaskLost, MaskForeign, MalformedMask; after the last one the mask is still
        there.
        """
        masks = self._masks(session)
        if number == masks.used and masked == masks.state:
            return masks.answer
        kept = masks.kept.get(number)
        if kept is None:
            raise self._missing(masks, number)
        matrix = self._terms.matrices[session.adapter]
        try:
            answer = matrix.answer(masked, kept)
        except MalformedNumbers as error:
            raise MalformedMask(str(error)) from error
        del masks.kept[number]
        masks.used, masks.state, masks.answer = number, masked, answer
        return answer

    def drop(self, session: bytes) -> None:
        """A session ends, and what is left of its masks with it."""
        self._held.pop(session, None)

    def held(self, principal: str) -> int:
        """Masks that a principal holds or has reserved."""
        return sum(masks.held for masks in self._held.values() if masks.principal == principal)

    def _masks(self, session: HostSession) -> SessionMasks:
        masks = self._held.get(session.id)
        if masks is None:
            masks = self._held[session.id] = SessionMasks(session.principal)
        return masks

    def _admitted(self, session: HostSession, count: int) -> int:
        """As many of ``count`` as limits and budget leave, counted as spent."""
        principal, limits = session.principal, self._limits
        room = limits.masks_per_principal - self.held(principal)
        if room <= 0:
            raise TooManyMasks(limits.masks_per_principal)
        in_all = limits.masks_in_all - sum(masks.held for masks in self._held.values())
        if in_all <= 0:
            raise TooManyMasks(limits.masks_in_all)
        left = self._budget.left(principal, session.adapter)
        if left == 0:
            raise BudgetExhausted(session.adapter, self._budget.limit)
        granted = min(count, room, in_all, count if left is None else left)
        self._budget.spend(principal, session.adapter, granted)
        return granted

    async def _reserved(self, session: HostSession, masks: SessionMasks, count: int) -> bytes:
        principal = session.principal
        try:
            most = await self._numbers.ready(principal)
            masks.pending = self._admitted(session, min(count, most))
            given = self._numbers.take(principal, masks.pending)
            await self._budget.secure(principal, session.adapter)
        except BaseException:
            # What was spent stays spent; the ordinal is free again.
            masks.reserving = Repeated(masks.reserving.number - 1)
            raise
        finally:
            masks.pending = 0
        masks.begin(given)
        return given.pack()

    async def _made(
        self, session: HostSession, masks: SessionMasks, number: int, query: bytes
    ) -> bytes:
        try:
            reply, kept = await self._make_one(session, query)
        except BaseException:
            masks.making = Repeated()
            raise
        masks.kept[number] = unpack(kept, self._terms.matrices[session.adapter].plan.rank)
        masks.next = number + 1
        return reply

    def _missing(self, own: SessionMasks, number: int) -> MaskUsed | MaskLost | MaskForeign:
        if own.was_made(number):
            return MaskUsed(number)
        others = (held for held in self._held.values() if held is not own)
        same = [held for held in others if held.principal == own.principal]
        foreign = any(number in given for held in same for given in held.ranges)
        if foreign or number >= self._numbers.given(own.principal):
            return MaskForeign(number)
        return MaskLost(number)


def _fingerprint(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=32).digest()
