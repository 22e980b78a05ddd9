"""Steps counted in with memory set aside for them, at once or in their turn."""

from __future__ import annotations

from collections.abc import Callable

from split_server.engine.model.info import ModelInfo
from split_server.sessions.admission.gate import StepGate
from split_server.sessions.admission.newcomers import Newcomers
from split_server.sessions.admission.request import StepRequest
from split_server.sessions.keeping.sharing import Sharing
from split_server.sessions.session import Session
from split_server.sessions.store import SessionStore
from split_wire.attention import attention_bytes
from split_wire.errors import CacheFull, Overloaded, SplitError
from split_wire.returned import INTERACTIVE_ROWS
from split_wire.tensor import item_size

# Seconds after the end of a step within which those who wait for memory are looked at.
_BEAT = 0.05
# Of each row that travels in i8.
_SCALE_BYTES = 4


def _crowded(waiting: int) -> SplitError:
    return Overloaded(f"{waiting} steps wait for memory")


class Entrance:
    """``info``: of the model; ``max_queued``: steps that one principal may have under way;
    ``patience``: seconds that a step waits for memory; ``sharing``: beginnings that sessions hold
    in common.
    """

    def __init__(
        self,
        store: SessionStore,
        info: ModelInfo,
        max_queued: int,
        patience: float,
        sharing: Sharing | None = None,
    ) -> None:
        self._store = store
        self._sharing = sharing
        self._info = info
        self._gate = StepGate(store, max_queued)
        self._claims = Newcomers(patience, self.leave, CacheFull, _crowded)

    def freed(self) -> None:
        """Memory may have become free; those who wait for it are looked at."""
        self._claims.wake()

    def settled(self) -> None:
        """A step has ended; those who wait for memory are looked at soon."""
        self._claims.wake(_BEAT)

    def waits(self, session: Session, request: StepRequest) -> bool:
        """Whether the step needs memory that it may have to wait for. Raises AttentionTooLarge."""
        return self._store.grows(session, request.end, self._reply_room(session, request))

    async def turn(
        self, session: Session, make: Callable[[], Session], patience: float | None
    ) -> None:
        """Have ``make`` count a step of ``session`` in once there is memory: principals in turn,
        and of each the session first that is in use the longest.
        """
        await self._claims.turn(session.principal, make, session.since, patience)

    def enter(self, session: Session, request: StepRequest) -> None:
        """Count ``request`` in, and set memory aside for it.

        Raises AttentionTooLarge, Overloaded, UnknownSession, CacheFull; nothing is counted then.
        """
        reply_room = self._reply_room(session, request)
        if self._sharing is not None:
            self._sharing.leaves(session, request.end)
        self._gate.enter(session, request.end, reply_room)

    def enter_restoring(self, session: Session) -> None:
        """Count in what is taken into ``session`` between its steps: whoever asks for much takes
        the turns of his own steps. Raises Overloaded, UnknownSession.
        """
        self._gate.enter(session, session.cache.length)

    def enter_seeing(self, session: Session, size: int) -> None:
        """Count in what is hidden or shown in ``session``, which takes ``size`` bytes more while it
        is copied. Raises Overloaded, UnknownSession, CacheFull.
        """
        self._gate.enter(session, session.cache.length, session.reply_bytes + size)

    def leave(self, session: Session) -> None:
        """Count out what was counted in."""
        self._gate.leave(session)

    def _reply_room(self, session: Session, request: StepRequest) -> int:
        """Bytes of a large reply: of the attention that is asked for, and of the states of more
        rows than are decoded at a time; and those that the step needs besides. Raises
        AttentionTooLarge.
        """
        info, size = self._info, 0
        if request.returned > INTERACTIVE_ROWS:
            size = request.returned * (info.hidden_size * item_size(session.dtype) + _SCALE_BYTES)
        if request.attention is not None:
            size += attention_bytes(request.attention, info.num_layers, info.num_heads, request.end)
        return request.copies * size + request.aside
