"""Approximate replies computed plainly as well, in the background, where the server has the text.

All tokens go once more through a session that keeps and finds nothing; what is predicted from its
states and from those of the sequence that replied is compared, since the head is here.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress

from split_client.chat.verifying import Verified, compared
from split_client.generation.head.head import LMHead
from split_server.compat.run import GenerationRun
from split_server.compat.sequences import LocalSequence
from split_server.sessions.keeping.approximate import ApproximateAudit

# Of a reply; the states of all of them are held at once.
MOST_TOKENS = 256


class ReplyAudits:
    """``plain`` begins a sequence of a principal that keeps and finds nothing. One audit at a time,
    and what comes meanwhile is not audited. Lives on the event loop.
    """

    def __init__(
        self, head: LMHead, audit: ApproximateAudit, plain: Callable[[str], LocalSequence]
    ) -> None:
        self._head, self._audit, self._plain = head, audit, plain
        self._under_way: threading.Event | None = None

    def begin(self, principal: str, run: GenerationRun, ended: Callable[[bool], None]) -> bool:
        """Have the reply of ``run``, which has ended, computed plainly as well if it is due; its
        sequence is not to be used until ``ended`` is told on the event loop whether it may stay.
        """
        if self._under_way is not None or not run.approximate or not self._audit.due():
            return False
        loop, cancelled = asyncio.get_running_loop(), threading.Event()
        plain = self._plain(principal)
        run.sequence.backend.cancelled = plain.backend.cancelled = cancelled

        def told(stays: bool) -> None:
            self._under_way = None
            ended(stays)

        def work() -> None:
            stays = self._judged(principal, run, plain)
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(told, stays)

        try:
            threading.Thread(target=work, name="audit", daemon=True).start()
        except RuntimeError:
            return False
        self._under_way = cancelled
        return True

    def close(self) -> None:
        """Give up the one that is under way."""
        if self._under_way is not None:
            self._under_way.set()

    def _judged(self, principal: str, run: GenerationRun, plain: LocalSequence) -> bool:
        ways = run.sequence.backend.ways
        try:
            found = self._compared(run, plain)
        # An audit must not cost anything but itself.
        except Exception:  # noqa: BLE001
            found = None
        finally:
            plain.close()
        value = None if found is None else found.kl
        stays = self._audit.take(principal, ways, "kl", value)
        if not stays:
            run.sequence.backend.drop_chunks()
        return stays

    def _compared(self, run: GenerationRun, plain: LocalSequence) -> Verified | None:
        """None where the sequence has lost its session, so that it is exact by now."""
        reply, sequence = run.reply[:MOST_TOKENS], run.sequence
        tokens, before = [*run.request.prompt, *reply[:-1]], sequence.counters.resends
        near = sequence.cache(tokens, rows=len(reply)).states
        if sequence.counters.resends > before or not sequence.backend.ways:
            return None
        return compared(self._head, near, plain.cache(tokens, rows=len(reply)).states)
