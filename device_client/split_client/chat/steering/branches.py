"""Ends that a chat had before it went another way."""

from __future__ import annotations

from typing import Final

from split_client.chat.message import Message
from split_client.chat.steering.errors import BranchInvalid

MOST: Final = 32

Chat = tuple[Message, ...]


class Branches:
    """The newest 32 chats that were left, the newest first. They are in memory alone."""

    def __init__(self) -> None:
        self._left: list[Chat] = []

    @property
    def all(self) -> tuple[Chat, ...]:
        return tuple(self._left)

    def note(self, chat: Chat) -> None:
        """``chat`` is about to be left; one without a reply at its end is not kept."""
        if chat and chat[-1].role == "assistant":
            self._left = [chat, *(each for each in self._left if each != chat)][:MOST]

    def take(self, number: int, instead: Chat) -> Chat:
        """The branch of that number, from 1; ``instead`` of it, the chat as it is, is kept.

        Raises BranchInvalid.
        """
        if not 1 <= number <= len(self._left):
            raise BranchInvalid(f"there is no branch {number}; there are {len(self._left)}")
        taken = self._left.pop(number - 1)
        self.note(instead)
        return taken

    def forget(self) -> None:
        """The chat is another one."""
        self._left = []
