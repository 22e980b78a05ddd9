"""Taking turns back and making them again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from split_client.api import ChatSession, Reply
from split_client.chat.steering.errors import NothingToContinue
from split_client.errors import ClientError
from split_client.saved_chats.document import MAX_MESSAGES
from split_client.saved_chats.folder import Kept
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.sampling import whole

_SHORT = 60


@dataclass(slots=True)
class Turns:
    """``draft`` is the text that ``/edit`` gives back; ``kept`` the file that the chat is in;
    ``noised``: it was loaded, and some of it sent with noise before; ``begin``: what begins the
    next reply in place of an answer to the last message.
    """

    chat: ChatSession
    screen: Screen
    draft: str = ""
    kept: Kept | None = None
    noised: bool = False
    begin: Callable[[], Reply] | None = None

    def group(self) -> Group:
        return Group(
            "The chat",
            (
                Command(("new",), "new", "begin a new chat, keep the system message", self.new),
                Command(("undo",), "undo", "take back your last message and its answer", self.undo),
                Command(("retry",), "retry", "answer your last message again", self.retry),
                Command(("edit",), "edit [TEXT]", "change your last message", self.edit),
                Command(
                    ("amend",),
                    "amend [TEXT]",
                    "change what the last reply says; /continue goes on from there",
                    self.amend,
                ),
                Command(
                    ("remove",),
                    "remove N",
                    "take one message out; /context numbers them",
                    self.remove,
                ),
            ),
        )

    def new(self, _: str) -> Next:
        self.chat.conversation.clear()
        self.kept, self.noised = None, False
        self.screen.note("a new chat")
        return "stay"

    def undo(self, _: str) -> Next:
        self._leave()
        taken = self.chat.conversation.undo()
        if taken is None:
            self.screen.note("nothing to take back")
        else:
            self.screen.note(f"took back: {one_line(taken, _SHORT)}")
        return "stay"

    def retry(self, _: str) -> Next:
        self._leave()
        if self.chat.conversation.drop_reply():
            return "answer"
        self.screen.note("nothing to answer yet")
        return "stay"

    def edit(self, text: str) -> Next:
        self._leave()
        taken = self.chat.conversation.undo()
        if taken is None:
            self.screen.note("nothing to edit yet")
            return "stay"
        if not text:
            self.draft = taken
            return "edit"
        self.chat.conversation.say(text)
        self._tell_reuse()
        return "answer"

    def amend(self, text: str) -> Next:
        if not text:
            last = next((m for m in reversed(self.chat.messages) if m.role == "assistant"), None)
            if last is None or last is not self.chat.messages[-1]:
                raise NothingToContinue("the chat does not end with a reply")
            self.draft = f"/amend {last.content}"
            return "edit"
        self._leave()
        self.chat.conversation.amend(text)
        self.screen.note("the reply is changed; /continue goes on from there")
        return "stay"

    def remove(self, text: str) -> Next:
        number = whole("/remove", text, MAX_MESSAGES)
        self._leave()
        removed = self.chat.conversation.remove(number - 1)
        self.screen.note(f"removed: {removed.role}: {one_line(removed.content, _SHORT)}")
        return "stay"

    def _leave(self) -> None:
        """The chat is about to go another way."""
        self.chat.branches.note(self.chat.messages)

    def _tell_reuse(self) -> None:
        # What is wrong with the prompt is told when it is answered.
        with suppress(ClientError):
            kept, moved = self.chat.reusable()
            if kept:
                behind = f", ≈{moved} behind the edit are moved" if moved else ""
                self.screen.note(f"{kept} tokens of the chat are not computed again{behind}")
