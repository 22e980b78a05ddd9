"""The replies that a chat may end with, and the tokens that they are."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from split_client.chat.message import Message
from split_client.chat.steering.tokens import MOST_BYTES, TokenLog

_KEPT = 32


@dataclass(frozen=True, slots=True)
class Answered:
    """A chat that ends with a reply: ``ids`` of its prompt, ``prompt_tokens`` long, and of it.

    ``messages`` as the model was given them, ``chat`` as they are kept; ``log``: the tokens of the
    reply.
    """

    messages: tuple[Message, ...]
    ids: tuple[int, ...]
    prompt_tokens: int
    chat: tuple[Message, ...] = ()
    log: TokenLog | None = None

    @property
    def reply(self) -> list[int]:
        """Ids of the reply."""
        return list(self.ids[self.prompt_tokens :])


class Answers:
    """The newest 32, whose states have so many bytes in all."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._answers: deque[Answered] = deque(maxlen=_KEPT)

    def add(self, answered: Answered) -> None:
        """The newest one."""
        self._answers.append(answered)
        left = self._most
        for each in reversed(self._answers):
            if each.log is not None:
                each.log.shrink(max(0, left))
                left -= each.log.bytes

    def of(self, chat: tuple[Message, ...]) -> Answered | None:
        """The one that ``chat`` ends with."""
        found = (each for each in reversed(self._answers) if each.chat == chat)
        return next(found, None)

    def forget(self) -> None:
        """The chat is another one."""
        self._answers.clear()
