"""Sessions of a device client that lives in this process: steps without frames."""

from __future__ import annotations

from collections.abc import Callable

from split_server.engine.job import Outcome
from split_server.engine.model.info import ModelInfo
from split_server.sessions.session import Session
from split_server.sessions.step import StepAdmission, StepRequest
from split_wire.attention import AttentionRequest
from split_wire.errors import StartBeyondCache
from split_wire.tensor import Tensor


class InProcessSessions:
    """Lives on the event loop, but for :meth:`request`."""

    def __init__(self, steps: StepAdmission) -> None:
        self._steps = steps

    @property
    def info(self) -> ModelInfo:
        """The model that is served."""
        return self._steps.info

    @property
    def max_rows(self) -> int:
        """Rows of one step."""
        return self._steps.max_rows

    def open(self, principal: str) -> Session:
        """A new session with an empty cache. Raises TooManySessions, ShuttingDown."""
        return self._steps.open(principal, self.info.dtype)

    def close(self, session: Session) -> None:
        """Forget a session; its buffers are free once no step of it runs."""
        self._steps.store.close(session.principal, session.key)

    def request(
        self,
        session: Session,
        start: int,
        rows: Tensor,
        attention: AttentionRequest | None = None,
        buffered: int = 0,
    ) -> StepRequest:
        """The step that keeps ``start`` positions and appends ``rows`` [n, H] in the session's
        dtype, hashed here: on the thread of whoever makes the session's steps, one at a time.

        ``buffered``: answers with attention that may wait for their reader beside this one. Raises
        StartBeyondCache.
        """
        if start > len(session.chain):
            raise StartBeyondCache(start, len(session.chain))
        digests = session.chain.following(start, rows)
        return StepRequest(start, rows, digests, attention=attention, attention_copies=1 + buffered)

    def begin(
        self,
        session: Session,
        request: StepRequest,
        done: Callable[[Outcome], None],
        wanted: Callable[[], bool],
    ) -> None:
        """Queue one step of ``session``.

        ``done`` is called once on the model thread, with ``Abandoned`` for a step that is no longer
        ``wanted`` when its turn comes. Raises ShuttingDown and what :meth:`StepAdmission.begin`
        raises; ``done`` is then never called.
        """
        self._steps.require_serving()
        self._steps.begin(session, request, lambda _: None, done=done, wanted=wanted)
