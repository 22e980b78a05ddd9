"""How full the context is while a message is typed, with the files that go with it."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.api import ChatSession
from split_client.chat.context.fill import Fill
from split_client.terminal.commands.files import Attached, Files
from split_client.terminal.output.words import total_of

# Characters of a draft that are counted while it is typed, and of the files that go with it, which
# are counted once.
_MOST_TYPED = 20_000
_MOST_FILES = 200_000


@dataclass(slots=True)
class Meter:
    """Of one chat, and the ``files`` that wait for its next message."""

    chat: ChatSession
    files: Files
    _full: Fill | None = None
    # What was counted of the files that waited last.
    _counted: tuple[tuple[Attached, ...], int] = ((), 0)

    def refresh(self) -> None:
        """Count the chat anew."""
        self._full = None
        self._full = self.chat.context.fill() if self.chat.messages else None

    def told(self, draft: str) -> str:
        """How full the context is, and what ``draft`` and the files add; nothing where the chat
        could not be counted, or where there is nothing to tell.
        """
        fill, is_typed = self._full, _is_message(draft)
        if fill is None and (self.chat.messages or not (is_typed or self.files.waiting)):
            return ""
        told, budget = "0" if fill is None else total_of(fill), self.chat.context.budget
        if not is_typed and not self.files.waiting:
            return f"{told} of {budget:,}"
        typed = draft if is_typed else ""
        more = self.chat.context.tokens(typed[:_MOST_TYPED]) + self._of_files()
        cut = len(typed) > _MOST_TYPED or self.files.characters > _MOST_FILES
        return f"{told} + {'≥' if cut else ''}{more:,} of {budget:,}"

    def _of_files(self) -> int:
        """Tokens of the files as they go with a message."""
        waiting = tuple(self.files.waiting)
        if waiting != self._counted[0]:
            text = "\n\n".join(["", *self.files.texts()])
            self._counted = waiting, self.chat.context.tokens(text[:_MOST_FILES])
        return self._counted[1]


def _is_message(draft: str) -> bool:
    """Whether it is no command, nor nothing."""
    return bool(draft.strip()) and (not draft.startswith("/") or draft.startswith("//"))
