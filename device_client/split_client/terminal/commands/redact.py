"""``/redact``: surrogates for values in what goes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from split_client.api import ChatSession
from split_client.redaction.kinds import GROUPS
from split_client.redaction.settings import RedactionSettings
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.output.redaction import counted_kinds, redaction_line, word_of
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import counted
from split_client.terminal.sampling import SettingInvalid

_USAGE: Final = (
    "/redact is followed by on, off, map, preview TEXT, name A PERSON, or a kind and on or off "
    f"({', '.join(GROUPS)})"
)
_LISTED: Final = 200


@dataclass(slots=True)
class Redact:
    """Redaction of the chat, which is saved with it."""

    chat: ChatSession
    screen: Screen

    def group(self) -> Group:
        what = "send surrogates for values: on, off, map, preview TEXT, name PERSON, KIND on or off"
        return Group("Redaction", (Command(("redact",), "redact [WHAT]", what, self.run),))

    def run(self, text: str) -> Next:
        word, _, rest = text.partition(" ")
        rest = rest.strip()
        if word in GROUPS:
            self._kind(word, rest)
            return "stay"
        known: dict[str, Callable[[str], None]] = {
            "": self._state,
            "on": self._on,
            "off": self._off,
            "map": self._map,
            "preview": self._preview,
            "name": self._name,
        }
        if word not in known or bool(rest) != (word in ("preview", "name")):
            raise SettingInvalid(_USAGE)
        known[word](rest)
        return "stay"

    def _state(self, _: str) -> None:
        self.screen.note(redaction_line(self.chat.redaction))
        entries = self.chat.redaction.entries
        if entries:
            kinds = counted_kinds(entry.kind for entry in entries)
            self.screen.note(f"its map has {kinds}; /redact map lists them")

    def _on(self, _: str) -> None:
        if not self.chat.redaction.on:
            self.chat.redact(True)
            self._tell_gone()
        self._state("")

    def _off(self, _: str) -> None:
        was = self.chat.redaction.on
        self.chat.redact(False)
        self._state("")
        if was and self.chat.redaction.entries:
            self.screen.note(
                "the next message sends all of the chat as it is, also what has gone out as "
                "surrogates so far; /redact on takes that back before it"
            )

    def _tell_gone(self) -> None:
        """What has gone out as it is cannot be taken back."""
        messages = [message for message in self.chat.messages if message.role != "system"]
        if not messages:
            return
        redaction = self.chat.redaction
        gone = [each for m in self.chat.messages for each in redaction.preview(m.content)[1]]
        values = dict.fromkeys((each.kind, each.value) for each in gone)
        held = counted_kinds(kind for kind, _ in values) or "nothing that it finds"
        self.screen.note(
            f"{counted(len(messages), 'message')} of this chat went out as they are, with {held} "
            "in them. The next message sends them again with surrogates, so the server can see "
            "which surrogate stands for which of those; a new chat (/new) tells it nothing of that"
        )

    def _map(self, _: str) -> None:
        entries = self.chat.redaction.entries
        for entry in entries[-_LISTED:]:
            value, surrogate = one_line(entry.value, 80), one_line(entry.surrogate, 80)
            self.screen.line(f"{word_of(entry.kind)}: {value} → {surrogate}")
        if len(entries) > _LISTED:
            self.screen.note(f"and {len(entries) - _LISTED} before these")
        if not entries:
            self.screen.note("the map is empty")

    def _preview(self, text: str) -> None:
        if not self.chat.redaction.on:
            raise SettingInvalid("redaction is off, so the text goes out as it is; /redact on")
        made, replaced = self.chat.redaction.preview(text)
        self.screen.line(one_line(made, len(made)))
        self.screen.note(counted_kinds(each.kind for each in replaced) or "nothing is replaced")

    def _name(self, person: str) -> None:
        settings = self._settings()
        names = tuple(dict.fromkeys((*settings.names, person)))
        self._be(replace(settings, names=names))

    def _kind(self, group: str, wanted: str) -> None:
        if wanted not in ("on", "off"):
            raise SettingInvalid(_USAGE)
        settings = self._settings()
        groups = settings.groups | {group} if wanted == "on" else settings.groups - {group}
        self._be(replace(settings, groups=groups))

    def _settings(self) -> RedactionSettings:
        return self.chat.redaction.settings or RedactionSettings()

    def _be(self, settings: RedactionSettings) -> None:
        was = self.chat.redaction.on
        self.chat.redact(settings)
        if not was:
            self._tell_gone()
        self._state("")
