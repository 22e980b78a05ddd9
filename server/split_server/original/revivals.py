"""Sessions that were lost go on where they stood, while what they held is kept."""

from __future__ import annotations

import asyncio

from split_server.kv.block_key import BlockNames
from split_server.sessions.lost_names import Parked
from split_server.sessions.session import Session
from split_server.sessions.step import StepAdmission
from split_wire.errors import Overloaded, UnknownSession
from split_wire.probe import BLOCK, Probe


class Revivals:
    """Lives on the event loop."""

    def __init__(self, steps: StepAdmission) -> None:
        self._steps = steps
        self._under_way: set[tuple[str, str]] = set()

    def keep(self, session: Session) -> None:
        """What ``session`` holds when it is lost is kept for it, and for nobody else."""
        if self._steps.reuse is not None:
            _apart(session, self._steps.reuse.names_apart(session.principal))

    def give_up(self, parked: Parked | None) -> None:
        """A session begins anew in place of one that was lost and stood at ``parked``."""
        if parked is not None and self._steps.reuse is not None:
            self._steps.reuse.give_up(parked.names)

    async def found(self, principal: str, name: str) -> Session | None:
        """The session called ``name``, opened anew if it was lost and all it held is kept; None
        when that name was never used.

        Raises UnknownSession for one that is lost, Overloaded while it is being opened, and what
        :meth:`StepAdmission.opened` raises.
        """
        store, key = self._steps.store, (principal, name)
        if key in self._under_way:
            raise Overloaded("a step of this session is under way")
        parked = store.parked_named(principal, name)
        if parked is None:
            return store.find_named(principal, name)
        self._under_way.add(key)
        # Whoever takes kept rows in must not be cancelled.
        tasks = self._steps.tasks
        return await tasks.result(tasks.start(self._reopened(principal, name, parked)))

    async def _reopened(self, principal: str, name: str, parked: Parked) -> Session:
        store = self._steps.store
        try:
            await self._settled()
            session = await self._steps.opening.opened(principal, "f32", name=name)
            _apart(session, parked.names)
            # Larger than any position: the whole of it is asked for, and no part.
            stride = BLOCK * (parked.positions // BLOCK + 1)
            held = await self._reheld(session, Probe(parked.positions, stride, parked.digest))
            if held != parked.positions:
                store.lose(session, kept=False)
                raise UnknownSession
            return session
        finally:
            self._under_way.discard((principal, name))

    async def _reheld(self, session: Session, probe: Probe) -> int:
        try:
            return await self._steps.recall.restored(session, 0, probe)
        except BaseException:
            self._steps.store.lose(session, kept=False)
            raise

    async def _settled(self) -> None:
        """What sessions left behind is kept."""
        reuse = self._steps.reuse
        if reuse is not None and reuse.parking:
            await asyncio.wait([*reuse.parking])


def _apart(session: Session, names: BlockNames) -> None:
    """Have ``session`` kept under ``names``, which are its own, and by this process alone."""
    session.names, session.finds, session.apart = names, (names,), names
    session.to_disk = False
