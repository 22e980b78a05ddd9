"""The commands of a chat, ``/help`` and its like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from split_client.api import ChatSession, SplitClient
from split_client.config import LONGEST_REPLY
from split_client.conversation_file import (
    SavedConversation,
    load_conversation,
    save_conversation,
)
from split_client.terminal.attention import AttentionView
from split_client.terminal.sampling import FLOATS, WHOLE, SettingInvalid, changed, whole
from split_client.terminal.sanitise import one_line
from split_client.terminal.screen import Screen
from split_client.terminal.words import counted, traffic_line

_KEYS = (
    "Enter sends. Alt-Enter, or a backslash at the end of a line, begins a new line.",
    "Ctrl-C stops a reply and keeps the chat; twice breaks off a reply that hangs.",
    "At the prompt, Ctrl-D or Ctrl-C twice leaves.",
    "A message that begins with a slash is written with two: //text.",
)
_COMMANDS = (
    ("/new", "forget the chat, keep the system message"),
    ("/undo", "take back your last message and its answer"),
    ("/retry", "answer your last message again"),
    ("/edit [TEXT]", "change your last message and answer it again"),
    ("/system [TEXT]", 'show or set the system message ("none" removes it)'),
    ("/set [NAME VALUE]", "show or change a setting, such as /set temperature 0.7"),
    ("/save FILE", "write the chat to a file"),
    ("/load FILE", "continue a saved chat"),
    ("/attention [now]", "show what the last token of replies attends to, or stop; now: once"),
    ("/stats", "traffic and cache so far"),
    ("/help, /?", "this list"),
    ("/quit, /exit", "leave"),
)
_NAMES_WIDE = max(len(name) for name, _ in _COMMANDS) + 2

Next: TypeAlias = Literal["stay", "answer", "edit", "quit"]


@dataclass(slots=True)
class CommandLine:
    """Runs one command at a time on one chat; ``draft`` is the text that ``/edit`` gives back."""

    client: SplitClient
    chat: ChatSession
    screen: Screen
    attention: AttentionView
    draft: str = ""

    def run(self, line: str) -> Next:
        """Carry out ``line``, which begins with a slash. Raises ClientError."""
        name, _, rest = line[1:].partition(" ")
        command = self._commands().get(name.lower())
        if command is None:
            raise SettingInvalid(f"there is no /{name}; see /help")
        return command(rest.strip())

    def _commands(self) -> dict[str, Callable[[str], Next]]:
        return {
            "help": self._help,
            "?": self._help,
            "new": self._new,
            "undo": self._undo,
            "retry": self._retry,
            "edit": self._edit,
            "system": self._system,
            "set": self._set,
            "save": self._save,
            "load": self._load,
            "attention": self._attention,
            "stats": self._stats,
            "quit": lambda _: "quit",
            "exit": lambda _: "quit",
        }

    def _help(self, _: str) -> Next:
        for line in _KEYS:
            self.screen.paragraph(line)
        self.screen.line()
        for name, what in _COMMANDS:
            self.screen.paragraph(name.ljust(_NAMES_WIDE) + what, _NAMES_WIDE)
        return "stay"

    def _new(self, _: str) -> Next:
        self.chat.conversation.clear()
        self.screen.note("a new chat")
        return "stay"

    def _undo(self, _: str) -> Next:
        taken = self.chat.conversation.undo()
        self.screen.note("nothing to take back" if taken is None else f"took back: {_short(taken)}")
        return "stay"

    def _retry(self, _: str) -> Next:
        if self.chat.conversation.drop_reply():
            return "answer"
        self.screen.note("nothing to answer yet")
        return "stay"

    def _edit(self, text: str) -> Next:
        taken = self.chat.conversation.undo()
        if taken is None:
            self.screen.note("nothing to edit yet")
            return "stay"
        if not text:
            self.draft = taken
            return "edit"
        self.chat.conversation.say(text)
        return "answer"

    def _system(self, text: str) -> Next:
        if text:
            self.chat.conversation.set_system(None if text == "none" else text)
        system = self.chat.conversation.system
        self.screen.note(f"system message: {one_line(system)}" if system else "no system message")
        return "stay"

    def _set(self, text: str) -> Next:
        name, _, value = text.partition(" ")
        if value:
            self._change(name.replace("-", "_"), value.strip())
        elif name:
            raise SettingInvalid(f"/set {name} needs a value, such as /set temperature 0.7")
        self._show_settings()
        return "stay"

    def _change(self, name: str, value: str) -> None:
        chat = self.chat
        if name == "max_tokens":
            chat.max_tokens = whole(name, value, LONGEST_REPLY)
        elif name == "stop":
            chat.stop = () if value == "none" else (value,)
        elif name in (*FLOATS, *WHOLE, "logit_bias"):
            chat.params = changed(chat.params or self.client.default_params, name, value)
        else:
            raise SettingInvalid(f"there is no setting {name!r}; /set shows them")

    def _show_settings(self) -> None:
        params = self.chat.params or self.client.default_params
        shown = [f"{name} {getattr(params, name):g}" for name in (*FLOATS, "top_k")]
        shown.append(f"seed {'none' if params.seed is None else params.seed}")
        shown.append(f"max_tokens {self.chat.max_tokens}")
        shown.append(f"stop {' '.join(map(repr, self.chat.stop)) or 'none'}")
        if params.logit_bias:
            shown.append(f"logit_bias of {len(params.logit_bias)} tokens")
        for start in range(0, len(shown), 4):
            self.screen.note(" · ".join(shown[start : start + 4]))

    def _save(self, text: str) -> Next:
        path = _path(text, "/save")
        messages = self.chat.messages
        save_conversation(path, SavedConversation(self.client.manifest.name, messages))
        self.screen.note(f"saved {counted(len(messages), 'message')} to {path}")
        return "stay"

    def _load(self, text: str) -> Next:
        path = _path(text, "/load")
        saved = load_conversation(path)
        self.chat.conversation.replace(saved.messages)
        self.screen.note(f"loaded {counted(len(saved.messages), 'message')} from {path}")
        if saved.model and saved.model != self.client.manifest.name:
            self.screen.note(f"they were another model's: {one_line(saved.model)}")
        return "stay"

    def _attention(self, text: str) -> Next:
        self.attention.command(text.lower())
        return "stay"

    def _stats(self, _: str) -> Next:
        stats = self.client.stats
        self.screen.note(traffic_line(stats))
        self.screen.note(
            f"{counted(len(self.chat.messages), 'message')}, "
            f"{counted(self.chat.cached_tokens, 'token')} cached "
            f"of {self.client.manifest.max_context}"
        )
        return "stay"


def _path(text: str, command: str) -> Path:
    if not text:
        raise SettingInvalid(f"{command} needs a file name")
    try:
        return Path(_unquoted(text)).expanduser()
    except RuntimeError:
        raise SettingInvalid(f"{text!r}: there is no such account") from None


def _unquoted(text: str) -> str:
    """A path as a shell would take it that was written between quotes."""
    quoted = len(text) > 2 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def _short(text: str) -> str:
    return one_line(text, 60)
