"""``/forget``: what the server keeps of a chat is deleted there."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.api import ChatSession, Forgotten, Message, SplitClient
from split_client.chat.redacting.redaction import ChatRedaction
from split_client.errors import ClientError
from split_client.saved_chats.document import SavedConversation
from split_client.terminal.commands.command import Command, Next
from split_client.terminal.commands.turns import Turns
from split_client.terminal.kept import forgotten_line, purged_line
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.sampling import SettingInvalid
from split_wire.errors import SplitError

_OFF = "the server is asked to keep nothing (--server-cache off)"


@dataclass(slots=True)
class Forget:
    """Has the server delete what it keeps; the chat itself stays here."""

    client: SplitClient
    chat: ChatSession
    screen: Screen
    turns: Turns

    def command(self) -> Command:
        return Command(
            ("forget",),
            "forget [all]",
            "delete what the server keeps of this chat; all: of all your chats",
            self.run,
        )

    def run(self, text: str) -> Next:
        if text not in ("", "all"):
            raise SettingInvalid("/forget takes nothing behind it, or the word all")
        done = self._open_one()
        if text == "all":
            self.screen.note(purged_line(self.client.forget_all()))
        else:
            self.screen.note(_OFF if self._off() else forgotten_line(done))
        # What is gone there is not to be linked with what comes.
        self.client.route_anew()
        self.screen.note("the chat goes on; the next message sends all of it again")
        return "stay"

    def saved(self, saved: SavedConversation | None, *, open_here: bool) -> None:
        """A chat that was saved is deleted here; ``saved`` None: its file could not be read."""
        if self._off() and not open_here:
            return
        if saved is None:
            self._could_not("its file could not be read")
        elif saved.noised and not open_here:
            # The name of a row that was sent with noise would tell of the row itself.
            self._could_not("it was sent with noise, and is not asked for by its text")
        elif saved.model and saved.model != self.client.manifest.name:
            self._could_not(f"it was another model's, {one_line(saved.model)}")
        else:
            self._asked(self._sent(saved), open_here=open_here)

    def _sent(self, saved: SavedConversation) -> tuple[Message, ...]:
        """Its messages as they went out: their names would tell of values that never did."""
        if saved.redaction is None:
            return saved.messages
        redaction = ChatRedaction(self.chat.context.tokens)
        redaction.load(saved.redaction)
        return redaction.given(saved.messages)

    def _asked(self, messages: tuple[Message, ...], *, open_here: bool) -> None:
        said = [message.as_dict() for message in messages]
        try:
            done = self._open_one() if open_here else self.client.forget(said)
        # The chat is deleted here whatever becomes of this.
        except (ClientError, SplitError) as error:
            self._could_not(str(error))
        else:
            self.screen.note(_OFF if self._off() else forgotten_line(done))

    def _open_one(self) -> Forgotten:
        return self.chat.forget(texts=not self.turns.noised)

    def _could_not(self, why: str) -> None:
        self.screen.note(
            f"what the server keeps of it was not deleted there: {why}; unused, it goes by itself, "
            "and /forget all deletes it"
        )

    def _off(self) -> bool:
        return self.client.server_cache == "off"
