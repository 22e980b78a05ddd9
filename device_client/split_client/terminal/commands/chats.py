"""Keeping chats: by name in a folder, or in a file of one's own choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from split_client.api import ChatSession, Message, SplitClient
from split_client.errors import ClientError
from split_client.noise.words import OTHER_NOISE_LINE
from split_client.saved_chats.document import (
    SavedConversation,
    load_conversation,
    save_conversation,
)
from split_client.saved_chats.errors import ChatEmpty, ChatExists
from split_client.saved_chats.folder import ChatFolder, Kept
from split_client.saved_chats.names import checked_name, folded, is_path, title_of
from split_client.saved_chats.search import Found, look
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.commands.forget import Forget
from split_client.terminal.commands.models import Models
from split_client.terminal.commands.turns import Turns
from split_client.terminal.input.reader import PROMPT
from split_client.terminal.output.fold import cut, room
from split_client.terminal.output.redaction import redaction_line
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import counted
from split_client.terminal.paths import expanded, unquoted
from split_client.terminal.sampling import SettingInvalid

_LISTED = 30
_INDENT = 2
_LONGEST_ASKED = 500
_WHO = {"user": "you: ", "assistant": "model: ", "system": "system: ", "tool": "tool: "}
_TRIES = 100


@dataclass(slots=True)
class Chats:
    """``turns`` knows which file the chat is in; ``forget`` deletes on the server."""

    client: SplitClient
    chat: ChatSession
    screen: Screen
    folder: ChatFolder
    turns: Turns
    forget: Forget
    models: Models

    def group(self) -> Group:
        return Group(
            "Saved chats",
            (
                Command(("save",), "save [NAME]", "keep the chat by name, or in a FILE", self.save),
                Command(("load",), "load NAME", "go on with a saved chat or a FILE", self.load),
                Command(("chats",), "chats [WORDS]", "list saved chats, or search", self.list),
                Command(
                    ("rename",), "rename NAME = NEW", "give a saved chat a new name", self.rename
                ),
                Command(
                    ("delete",),
                    "delete NAME",
                    "delete the chat of that name, on the server too",
                    self.delete,
                ),
            ),
        )

    def save(self, text: str) -> Next:
        text = unquoted(text)
        kept = self.turns.kept
        if not text and kept is None:
            raise SettingInvalid("/save needs a name, such as /save Trip to Rome")
        messages = self.chat.messages
        if is_path(text):
            path = expanded(text)
            self._require_said()
            save_conversation(path, self._saved())
            self.screen.note(f"saved {counted(len(messages), 'message')} to {path}")
            return "stay"
        name = checked_name(text or _name(kept))
        self._require_said()
        self.turns.kept = self.folder.save(name, self._saved(), kept)
        self.screen.note(
            f"saved {counted(len(messages), 'message')} as “{self.turns.kept.name}”; "
            f"/load brings it back"
        )
        return "stay"

    def load(self, text: str) -> Next:
        text = unquoted(text)
        if not text:
            raise SettingInvalid("/load needs the name of a chat; /chats lists them")
        kept: Kept | None = None
        if is_path(text):
            saved, source = load_conversation(path := expanded(text)), f"from {path}"
        else:
            kept, saved = self.folder.load(text)
            source = f"of “{kept.name}”"
        self.chat.conversation.replace(saved.messages)
        self.chat.redaction.load(saved.redaction)
        self.turns.kept, self.turns.noised = kept, saved.noised
        self.screen.note(f"loaded {counted(len(saved.messages), 'message')} {source}")
        if saved.redaction is not None:
            self.screen.note(redaction_line(self.chat.redaction))
        following = self.models.of_saved(saved)
        if following == "stay":
            self._tell_of(saved)
        if self.screen.interactive:
            show_last(saved.messages, self.screen)
        return following

    def _tell_of(self, saved: SavedConversation) -> None:
        if saved.model and saved.model != self.client.manifest.name:
            self.screen.note(f"they were another model's: {one_line(saved.model)}")
        if self.chat.noise is not None and saved.messages:
            self.screen.note(OTHER_NOISE_LINE)

    def list(self, text: str) -> Next:
        seen = look(self.folder, text.split(), _LISTED)
        for found in seen.found:
            self._show(found)
        for damaged in seen.damaged:
            self.screen.note(f"skipped {one_line(str(damaged.file.path))}: {damaged.reason}")
        if not seen.found:
            self.screen.note(f"no saved chat has “{one_line(text, 60)}”" if text else "no chats")
        if seen.left_out:
            self.screen.note(f"{counted(seen.left_out, 'older chat')} not looked at")
        return "stay"

    def rename(self, text: str) -> Next:
        old, separator, new = (part.strip() for part in text.partition("="))
        kept = self.turns.kept
        if not separator and kept is not None:
            old, new = kept.name, text
        if not old or not new:
            raise SettingInvalid("/rename needs two names, such as /rename Rome = Trip to Rome")
        was, name = self.folder.rename(unquoted(old), unquoted(new))
        if kept is not None and kept.name == was:
            self.turns.kept = Kept(name, kept.digest)
        self.screen.note(f"“{was}” is now “{name}”")
        return "stay"

    def delete(self, text: str) -> Next:
        if not text:
            raise SettingInvalid("/delete needs the whole name of a chat; /chats lists them")
        saved = self._readable(unquoted(text))
        name = self.folder.delete(unquoted(text))
        kept = self.turns.kept
        open_here = kept is not None and folded(kept.name) == folded(name)
        if open_here:
            self.turns.kept = None
            self.chat.forget_drafts()
        self.client.forget_drafts()
        self.screen.note(f"deleted “{name}”")
        self.forget.saved(saved, open_here=open_here)
        return "stay"

    def _readable(self, name: str) -> SavedConversation | None:
        try:
            return self.folder.load(name)[1]
        # What is damaged can be deleted all the same.
        except ClientError:
            return None

    def autosave(self, now: datetime) -> None:
        """Keep the chat where it is kept already, else under a name made of its first words.

        Raises SavedChatError.
        """
        kept = self.turns.kept
        if kept is not None:
            self.turns.kept = self.folder.save(kept.name, self._saved(), kept)
            return
        first = next((m.content for m in self.chat.messages if m.role == "user"), "")
        title = title_of(first, now)
        for number in range(1, _TRIES):
            name = title if number == 1 else f"{title} ({number})"
            try:
                self.turns.kept = self.folder.save(name, self._saved())
            except ChatExists:
                continue
            self.screen.note(f"kept as “{name}”")
            return
        raise ChatExists(title)

    def _require_said(self) -> None:
        """Raises ChatEmpty."""
        if all(message.role == "system" for message in self.chat.messages):
            kept = self.turns.kept
            raise ChatEmpty(None if kept is None else kept.name)

    def _saved(self) -> SavedConversation:
        noised = self.turns.noised or self.chat.noise is not None
        manifest, redaction = self.client.manifest, self.chat.redaction.document()
        return SavedConversation(
            manifest.name,
            self.chat.messages,
            noised,
            redaction,
            self.client.model,
            manifest.digest,
        )

    def _show(self, found: Found) -> None:
        facts = f"{found.file.changed:%Y-%m-%d %H:%M} · {counted(found.messages, 'message')}"
        self.screen.paragraph(one_line(found.file.name), _INDENT, "you")
        self.screen.paragraph(" " * _INDENT + facts, _INDENT)
        if found.line:
            line = f"{' ' * _INDENT}{_WHO.get(found.role or '', '')}{one_line(found.line, 200)}"
            width = room(self.screen.out)
            self.screen.line(cut(line, width) if self.screen.interactive else line)


def show_last(messages: Sequence[Message], screen: Screen) -> None:
    """The last message of the user and what was answered, so that it is known where one is."""
    asked = max((i for i, m in enumerate(messages) if m.role == "user"), default=len(messages))
    for message in messages[asked:]:
        if message.role == "user":
            show_said(message.content, screen)
        elif message.role == "tool":
            name = one_line(message.name or "a tool", 64)
            screen.note(f"result of {name}: {one_line(message.content, _LONGEST_ASKED)}")
        else:
            for call in message.tool_calls:
                name = one_line(call.name, 64)
                screen.note(f"called {name}: {one_line(call.arguments, _LONGEST_ASKED)}")
            screen.begin_reply()
            screen.reply(message.content)
            screen.end_reply()


def show_said(message: str, screen: Screen) -> None:
    """A message of the user's as it would stand behind the prompt."""
    screen.paragraph(f"{PROMPT}{one_line(message, _LONGEST_ASKED)}", 2, "you")


def _name(kept: Kept | None) -> str:
    return kept.name if kept is not None else ""
