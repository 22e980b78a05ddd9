"""What a device asks of chunks of its text, and tells of those that it sends."""

from __future__ import annotations

from collections.abc import Sequence

from split_wire.client.events import ChunksFound, Event, Ignored, ProtocolStateError
from split_wire.client.seeing import SeeingSession
from split_wire.codec import encode_message
from split_wire.documents.chunks import CAPABILITY, MOST_CHUNKS, Chunk, Named
from split_wire.documents.finding import Find, Found
from split_wire.errors import MalformedMessage


class FindingSession(SeeingSession):
    """A session that may take rows of chunks that are kept. ``chunks``: those of the text that is
    sent, in their order, which later steps say in which rows they lie; may be set at any time.
    """

    chunks: tuple[Chunk, ...] = ()
    # How many chunks the outstanding message asks for.
    _asked_for: int | None = None

    @property
    def finds(self) -> bool:
        """Whether the open session can be asked for chunks, and told of them."""
        return self._opened is not None and CAPABILITY in self._opened.capabilities

    def find(self, wanted: Sequence[Named]) -> bytes:
        """Ask which of the ``wanted`` chunks are kept, 1 to MOST_CHUNKS in their order.

        Raises ProtocolStateError.
        """
        opened = self._opened
        if opened is None or not self.finds or self.unanswered:
            raise ProtocolStateError("this needs an open session that finds chunks, and is idle")
        if not 1 <= len(wanted) <= MOST_CHUNKS:
            raise ProtocolStateError(f"{len(wanted)} chunks cannot be asked for at once")
        chunks, names = (tuple(each.chunk for each in wanted), b"".join(e.name for e in wanted))
        self._outstanding = encode_message(Find(opened.session, chunks, names))
        self._asked_for = len(wanted)
        return self._outstanding

    def forget(self) -> None:
        """As :meth:`SeeingSession.forget`."""
        super().forget()
        self._asked_for = None

    def give_up(self) -> None:
        """As :meth:`SeeingSession.give_up`, and chunks that were asked for are not waited for."""
        super().give_up()
        if self._asked_for is not None:
            self._asked_for, self._outstanding = None, None

    def _chunks_in(self, start: int, end: int) -> tuple[Chunk, ...]:
        """Those that have a row from ``start`` to ``end``; none where nobody wants to know."""
        if not self.finds:
            return ()
        within = (each for each in self.chunks if each.start < end and each.end > start)
        return tuple(within)[:MOST_CHUNKS]

    def _on_found(self, message: Found) -> Event:
        opened, asked = self._opened, self._asked_for
        if opened is None or asked is None or message.session != opened.session:
            return Ignored()
        if any(number >= asked for number in message.known):
            raise MalformedMessage(f"'known' has a number beyond the {asked} chunks asked for")
        self._asked_for, self._outstanding = None, None
        return ChunksFound(message.known)
