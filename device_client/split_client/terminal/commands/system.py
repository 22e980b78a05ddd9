"""The system message, and presets of it."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.api import ChatSession
from split_client.presets.folder import PresetFolder
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.output.fold import cut, room
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.sampling import SettingInvalid

_LONGEST_LINE = 200


@dataclass(slots=True)
class System:
    """Sets the system message of the chat."""

    chat: ChatSession
    screen: Screen
    presets: PresetFolder

    def group(self) -> Group:
        return Group(
            "System message",
            (
                Command(
                    ("system",),
                    "system [TEXT]",
                    'show or set it ("none" removes it, @NAME takes a preset)',
                    self.system,
                ),
                Command(("presets",), "presets", "list the presets", self.list),
                Command(
                    ("preset",), "preset save NAME", "keep it as a preset; also: delete", self.keep
                ),
            ),
        )

    def system(self, text: str) -> Next:
        if text:
            content = None if text == "none" else self.presets.text(text)
            self.chat.conversation.set_system(content)
        system = self.chat.conversation.system
        self.screen.note(f"system message: {one_line(system)}" if system else "no system message")
        return "stay"

    def list(self, _: str) -> Next:
        presets, failed = self.presets.all()
        width = room(self.screen.out)
        for preset in presets:
            whose = " (yours)" if preset.own else ""
            self.screen.paragraph(f"@{preset.name}{whose}", role="you")
            line = f"  {one_line(preset.text, _LONGEST_LINE)}"
            self.screen.line(cut(line, width) if self.screen.interactive else line)
        for error in failed:
            self.screen.note(one_line(str(error)))
        self.screen.note(f"/system @NAME takes one; yours are files in {self.presets.path}")
        return "stay"

    def keep(self, text: str) -> Next:
        action, _, name = text.partition(" ")
        if action not in ("save", "delete") or not name.strip():
            raise SettingInvalid("write /preset save NAME, or /preset delete NAME")
        if action == "delete":
            self.screen.note(f"deleted @{self.presets.delete(name)}")
            return "stay"
        system = self.chat.conversation.system
        if not system:
            raise SettingInvalid("there is no system message to keep; /system TEXT sets one")
        self.screen.note(f"kept as @{self.presets.save(name, system)}")
        return "stay"
