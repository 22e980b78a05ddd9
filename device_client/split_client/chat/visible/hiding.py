"""What later replies of a chat see: parts of it hidden and shown again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from split_client.chat.conversation import Message
from split_client.chat.visible.errors import NothingToHide
from split_client.chat.visible.places import Part, last_message, parts_of
from split_client.generation.detokenizer import Decoder
from split_client.generation.sequence import Sequence
from split_wire.hiding.spans import Spans, count, cut, union, without


class Ended(Protocol):
    """A chat that ends with a reply."""

    @property
    def messages(self) -> tuple[Message, ...]: ...
    @property
    def ids(self) -> tuple[int, ...]: ...
    @property
    def prompt_tokens(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Hiding:
    """Of a chat whose session is ``sequence``; ``ended``: as it ended with its last reply, None
    where it does not end with one.

    Positions are those of the chat's tokens. What is hidden stays so while the chat goes on from
    it, also in sessions that take the place of this one; an edit before it shows it again. Replies
    that do not see all of their chat are approximate.
    """

    sequence: Sequence
    decoder: Callable[[], Decoder]
    ended: Ended | None

    @property
    def length(self) -> int:
        """Positions of the chat; the last token of a reply has none before it is answered."""
        return max(0, len(self._ids) - 1)

    @property
    def hidden(self) -> Spans:
        """Positions that later replies do not see."""
        return self.sequence.hidden_of(self._ids)

    @property
    def offered(self) -> bool:
        """Whether the open session's server hides positions."""
        return self.sequence.hides

    def parts(self) -> tuple[Part, ...]:
        """The messages, with the positions of their lines; what the template changed is left out.

        Raises NothingToHide where the chat does not end with a reply.
        """
        if self.ended is None:
            raise NothingToHide("the chat does not end with a reply; say something first")
        ended = self.ended
        return parts_of(self.decoder(), ended.ids, ended.prompt_tokens, ended.messages)

    def hide(self, spans: Spans) -> int:
        """Have later replies not see ``spans`` either; how many positions they see less of now.

        Raises NothingToHide, ServerRefused (``unsupported``, ``spans_refused``) and the errors of a
        step; what was hidden stays hidden then.
        """
        message = last_message(self.parts())
        if not spans or spans[-1][1] > self.length + 1:
            raise NothingToHide(f"the chat has positions 0 to {self.length - 1}")
        spans, before = cut(spans, self.length), self.hidden
        self.sequence.hide(self._ids, union(before, spans), message)
        return count(self.hidden) - count(before)

    def show(self, spans: Spans | None = None) -> int:
        """Have later replies see ``spans`` again, or all; how many positions those are. Raises as
        :meth:`hide`.
        """
        before = self.hidden
        left = () if spans is None else without(before, spans)
        if left:
            self.sequence.hide(self._ids, left, last_message(self.parts()))
        else:
            self.sequence.show()
        return count(before) - count(left)

    @property
    def _ids(self) -> list[int]:
        return [] if self.ended is None else [*self.ended.ids]
