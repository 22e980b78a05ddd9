"""Spans of the open session that the server hides, and shows again."""

from __future__ import annotations

from collections.abc import Callable

from split_client.errors import ServerRefused
from split_client.transport.asking import Asking
from split_wire.client import ClientProtocol, SpansHidden
from split_wire.errors import SplitError, Unsupported
from split_wire.hiding.spans import CAPABILITY, Spans, cut, without


class Seeing:
    """Of the session of ``protocol``, asked over ``asking``."""

    def __init__(self, protocol: ClientProtocol, asking: Asking) -> None:
        self._protocol, self._asking = protocol, asking

    def sees_all_but(self, hidden: Spans, held: int) -> bool:
        """As :meth:`Hides.sees_all_but`."""
        return self._protocol.sure and cut(self._protocol.hidden, held) == hidden

    def see_all_but(self, hidden: Spans, message: Spans) -> None:
        """As :meth:`Hides.see_all_but`."""
        protocol = self._protocol
        if self.sees_all_but(hidden, protocol.cached):
            return
        if not protocol.hides:
            refused = Unsupported(CAPABILITY)
            raise ServerRefused(refused.code, str(refused))
        if not protocol.sure:
            self._ask(lambda: protocol.show(((0, protocol.cached),)))
        shown = without(protocol.hidden, hidden)
        if shown:
            self._ask(lambda: protocol.show(shown))
        more = without(hidden, protocol.hidden)
        if more:
            self._ask(lambda: protocol.hide(more, message))

    def _ask(self, make: Callable[[], bytes]) -> None:
        try:
            event = self._asking.ask(make)
        # What the server would refuse is refused before it is sent.
        except SplitError as error:
            raise ServerRefused(error.code, str(error)) from error
        if not isinstance(event, SpansHidden):
            raise self._asking.untrue("the answer to a hide or show is not its result")
