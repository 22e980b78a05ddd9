"""What a device hides of its session's rows, and has seen again."""

from __future__ import annotations

from split_wire.client.events import Event, Ignored, ProtocolStateError, SpansHidden
from split_wire.client.held import HeldSession
from split_wire.codec import encode_message
from split_wire.errors import SpansRefused, Unsupported
from split_wire.hiding.seeing import Hidden, Hide, Show
from split_wire.hiding.spans import CAPABILITY, Spans, require_few, require_hideable, union, without
from split_wire.messages import Opened


class SeeingSession(HeldSession):
    """A session some of whose rows may be hidden."""

    # What is hidden once the outstanding message is answered.
    _wanted: Spans | None = None
    _unsure = False

    def hide(self, spans: Spans, message: Spans = ()) -> bytes:
        """Ask that rows that follow do not see those of ``spans`` either; ``message``: where the
        last message of the user lies, one span or none.

        Raises ProtocolStateError, and before anything is sent Unsupported and SpansRefused.
        """
        opened, cached = self._ready(spans), self.cached
        require_hideable(spans, message)
        wanted = union(self._hidden, spans)
        require_few(wanted)
        asked = Hide(opened.session, cached, self._chain.at(cached), spans, message)
        self._wanted, self._outstanding = wanted, encode_message(asked)
        return self._outstanding

    def show(self, spans: Spans) -> bytes:
        """Ask that rows that follow see those of ``spans`` again. Raises as :meth:`hide`."""
        opened, cached = self._ready(spans), self.cached
        wanted = without(self._hidden, spans)
        require_few(wanted)
        asked = Show(opened.session, cached, self._chain.at(cached), spans)
        self._wanted, self._outstanding = wanted, encode_message(asked)
        return self._outstanding

    @property
    def sure(self) -> bool:
        """Whether :attr:`hidden` is what the server hides; not behind a message that was given up,
        until all is shown.
        """
        return not self._unsure or not self.cached

    def forget(self) -> None:
        """As :meth:`HeldSession.forget`."""
        super().forget()
        self._wanted, self._unsure = None, False

    def give_up(self) -> None:
        """As :meth:`HeldSession.give_up`, and a hide or show stays without an answer."""
        super().give_up()
        if self._wanted is not None and self._outstanding is not None:
            self._wanted, self._outstanding, self._unsure = None, None, True

    def _ready(self, spans: Spans) -> Opened:
        opened = self._opened
        if opened is None or self.unanswered:
            raise ProtocolStateError("rows are hidden and shown in an open session that is idle")
        if not self.hides:
            raise Unsupported(CAPABILITY)
        require_few(spans)
        if not spans or spans[-1][1] > self.cached:
            raise SpansRefused(f"{self.cached} positions are held")
        return opened

    def _on_hidden(self, message: Hidden) -> Event:
        opened, wanted = self._opened, self._wanted
        if opened is None or wanted is None or self._outstanding is None:
            return Ignored()
        told = (message.session, message.cached, message.spans)
        if told != (opened.session, self.cached, wanted):
            return Ignored()
        self._hidden, self._wanted, self._outstanding = wanted, None, None
        self._unsure = self._unsure and wanted != ()
        return SpansHidden(wanted)
