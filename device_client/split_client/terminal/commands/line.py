"""From a line that begins with a slash to its command."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from split_client.api import ChatSession, SplitClient
from split_client.presets.folder import PresetFolder
from split_client.saved_chats.folder import ChatFolder
from split_client.terminal.adapter import AdapterView
from split_client.terminal.attention import AttentionView
from split_client.terminal.commands.brightness import Brightness
from split_client.terminal.commands.chats import Chats
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.commands.completion import Completion
from split_client.terminal.commands.context import Context
from split_client.terminal.commands.files import Files
from split_client.terminal.commands.forget import Forget
from split_client.terminal.commands.form import Forms
from split_client.terminal.commands.help import show_help
from split_client.terminal.commands.meter import Meter
from split_client.terminal.commands.models import Models
from split_client.terminal.commands.redact import Redact
from split_client.terminal.commands.server import Server
from split_client.terminal.commands.settings import Settings
from split_client.terminal.commands.steering import Steering
from split_client.terminal.commands.system import System
from split_client.terminal.commands.turns import Turns
from split_client.terminal.commands.views import Views
from split_client.terminal.commands.visible import Visible
from split_client.terminal.output.screen import Screen
from split_client.terminal.sampling import SettingInvalid
from split_client.terminal.switching.way import Way


@dataclass(frozen=True, slots=True)
class Folders:
    """The folders of chats and presets."""

    chats: ChatFolder = field(default_factory=ChatFolder)
    presets: PresetFolder = field(default_factory=PresetFolder)


class CommandLine:
    """Runs one command at a time on one chat."""

    def __init__(
        self,
        client: SplitClient,
        chat: ChatSession,
        screen: Screen,
        attention: AttentionView,
        adapter: AdapterView,
        folders: Folders,
        way: Way | None = None,
    ) -> None:
        self._screen = screen
        self.turns = Turns(chat, screen)
        forget = Forget(client, chat, screen, self.turns)
        models = Models(client, screen, way)
        self.chats = Chats(client, chat, screen, folders.chats, self.turns, forget, models)
        self.files = Files(screen)
        self.server = Server(client, chat, screen, attention, forget)
        self.visible = Visible(chat, screen, attention)
        self.context = Context(chat, screen)
        self.meter = Meter(chat, self.files)
        self._groups = (
            self.turns.group(),
            Steering(chat, screen, self.turns).group(),
            self.files.group(),
            System(chat, screen, folders.presets).group(),
            Settings(client, chat, screen).group(),
            Forms(chat, screen).group(),
            models.group(),
            Views(attention, adapter).group(),
            self.context.group(),
            Brightness(chat, screen).group(),
            self.visible.group(),
            Redact(chat, screen).group(),
            self.chats.group(),
            self.server.group(),
            Group(
                "This program",
                (
                    Command(("help", "?"), "help", "this list", self._help),
                    Command(("quit", "exit"), "quit", "leave", lambda _: "quit"),
                ),
            ),
        )
        self._commands = {
            name: command
            for group in self._groups
            for command in group.commands
            for name in command.names
        }

        self.completion = Completion(self._commands, folders.chats, folders.presets, models.names)

    def hand_over(self, other: CommandLine, *, noised: bool) -> None:
        """Have the same chat go on in ``other``: its file, and what waits for the next message.

        ``noised``: some of it was sent with noise here.
        """
        other.turns.kept, other.turns.draft = self.turns.kept, self.turns.draft
        other.turns.noised = self.turns.noised or noised
        other.files.waiting[:] = self.files.waiting

    def run(self, line: str) -> Next:
        """Carry out ``line``, which begins with a slash. Raises ClientError."""
        name, _, rest = line[1:].partition(" ")
        command = self._commands.get(name.lower())
        if command is None:
            raise SettingInvalid(f"there is no /{name[:40]}; {self._hint(name.lower())}")
        return command.run(rest.strip())

    def _hint(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._commands, 1)
        return f"did you mean /{near[0]}? /help lists all" if near else "see /help"

    def _help(self, _: str) -> Next:
        show_help(self._screen, self._groups)
        return "stay"
