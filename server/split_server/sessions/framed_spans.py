"""Spans of framed sessions: what their devices hide, and have seen again."""

from __future__ import annotations

from split_server.sessions.session import Framing, Session
from split_server.sessions.step import StepAdmission
from split_wire.errors import SpansRefused
from split_wire.hiding.seeing import Hidden, Hide, Show
from split_wire.hiding.spans import Spans, cut, require_few, require_hideable, union, without


class FramedSpans:
    """What is wrong with a message is found before anything changes."""

    def __init__(self, steps: StepAdmission) -> None:
        self._steps = steps

    async def changed(self, session: Session, framing: Framing, message: Hide | Show) -> Hidden:
        """The answer to ``message``, of whose session no step may run; whoever waits for it must
        not be cancelled.

        Raises Unsupported, StepConflict, StartBeyondCache, PrefixMismatch, SpansRefused, and what
        hiding raises.
        """
        seeing = self._steps.seeing
        seeing.require_offered()
        async with framing.lock:
            framing.state.require_held(message.cached, message.prefix)
            hidden = _hidden(cut(session.cache.hidden, message.cached), message)
            replaced = message.cached < framing.state.cached
            try:
                await seeing.see_all_but(session, message.cached, hidden)
            finally:
                if replaced:
                    framing.state.replaced()
            return Hidden(message.session, message.cached, hidden)


def _hidden(before: Spans, message: Hide | Show) -> Spans:
    """What is hidden once ``message`` is done. Raises SpansRefused."""
    spans, cached = message.spans, message.cached
    if not spans or spans[-1][1] > cached:
        raise SpansRefused(f"{cached} positions are held")
    if isinstance(message, Show):
        hidden = without(before, spans)
    else:
        require_hideable(spans, message.message)
        hidden = union(before, spans)
    require_few(hidden)
    return hidden
