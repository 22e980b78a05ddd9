"""A share of the sessions whose devices edit their prompts computed plainly as well, from the rows
that they were sent.

The server has no head of the model there, so the hidden states are compared that were answered
behind moved rows. Where not all rows were sent there is nothing to compute them from.
"""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

import numpy as np

from split_server.engine.job import EngineResult, Outcome
from split_server.sessions.admission.request import StepRequest
from split_server.sessions.keeping.sent_rows import Replied, SentRows
from split_server.sessions.session import Session
from split_server.sessions.step import StepAdmission
from split_wire.messages import Step
from split_wire.tensor import Tensor

# Sessions whose rows are remembered at a time, and bytes of each.
MOST_SESSIONS = 4
MOST_BYTES = 32 << 20


class FramedAudits:
    """One audit at a time. Lives on the event loop."""

    def __init__(self, steps: StepAdmission) -> None:
        self._steps = steps
        self._sent = WeakKeyDictionary[Session, SentRows]()
        self._under_way = False

    def opened(self, session: Session) -> None:
        """Remember what ``session`` is sent, if its replies are to be audited."""
        splicing = self._steps.splicing
        if splicing is None or session.chain:
            return
        if not splicing.offered(session) and not splicing.finds(session):
            return
        if len(self._sent) < MOST_SESSIONS and splicing.audit.due():
            self._sent[session] = SentRows(MOST_BYTES)

    def ended(self, session: Session, step: Step, result: EngineResult) -> None:
        """A step of ``session`` was answered with ``result``."""
        sent = self._sent.get(session)
        if sent is None:
            return
        replied = sent.replied(step.start)
        if not sent.take(step, result.hidden) or session.cache.hidden:
            del self._sent[session]
            return
        sent.watch(session.cache.lineage.moved)
        replied = replied or sent.replied()
        if replied is not None and not self._under_way:
            del self._sent[session]
            self._under_way = True
            self._steps.tasks.start(self._judged(session, replied))

    async def _judged(self, session: Session, replied: Replied) -> None:
        splicing = self._steps.splicing
        ways, value = session.cache.lineage.ways, None
        try:
            value = off(replied, (await self._plain(session, replied)).to_f32())
        # An audit must not cost anything but itself.
        except Exception:  # noqa: BLE001
            value = None
        finally:
            self._under_way = False
        if splicing is None or splicing.audit.take(session.principal, ways, "states", value):
            return
        if self._steps.reuse is not None:
            self._steps.reuse.chunks.drop(session)
        self._steps.store.lose(session, kept=False)

    async def _plain(self, session: Session, replied: Replied) -> Tensor:
        """States of the last positions of ``replied``, on a session that keeps and finds nothing.
        Raises as opening a session and its steps do.
        """
        steps, rows = self._steps, replied.rows
        apart = await steps.opening.opened(session.principal, session.dtype)
        try:
            last, at = rows.rows - replied.count, 0
            while at < last:
                part = rows.part(at, min(last, at + steps.max_rows))
                await self._stepped(apart, StepRequest(at, part))
                at += part.rows
            request = StepRequest(last, rows.part(last, rows.rows), rows=replied.count)
            return (await self._stepped(apart, request)).hidden
        finally:
            steps.store.lose(apart, kept=False)

    async def _stepped(self, apart: Session, request: StepRequest) -> EngineResult:
        steps = self._steps
        answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

        def ended(outcome: Outcome) -> None:
            if not answer.done():
                answer.set_result(outcome)

        await steps.entered(apart, request)
        try:
            steps.begin_entered(apart, request, ended)
        except BaseException:
            steps.leave(apart)
            raise
        outcome = await answer
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def off(replied: Replied, plain: np.ndarray) -> float:
    """Mean norm of a difference of states over that of the ``plain`` one [n, H]."""
    first = replied.rows.rows - replied.count
    found = []
    for position, state in replied.states:
        right = plain[position - first].astype(np.float64)
        size = float(np.linalg.norm(right))
        found.append(float(np.linalg.norm(state.to_f32()[0] - right)) / size if size else np.inf)
    return float(np.mean(found))
