"""``/file``: text files that go with the next message."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from split_client.owner_file import reason
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.errors import AttachmentRefused, InputNotText
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import counted, size
from split_client.terminal.paths import expanded, unquoted
from split_files import read_regular

MAX_BYTES = 1 << 20
MOST_FILES = 8
_FENCE = "```"


@dataclass(frozen=True, slots=True)
class Attached:
    """The text of a file, and the name that the model is told."""

    name: str
    text: str


@dataclass(slots=True)
class Files:
    """``waiting``: those that go with the next message."""

    screen: Screen
    waiting: list[Attached] = field(default_factory=list)

    def group(self) -> Group:
        what = "send a text file with your next message; none: not after all"
        return Group("Files", (Command(("file",), "file PATH", what, self.attach),))

    def attach(self, text: str) -> Next:
        path = unquoted(text)
        if path == "none":
            self.waiting.clear()
        elif path:
            self.waiting.append(self._read(path))
        self._show()
        return "stay"

    def with_message(self, message: str) -> str:
        """``message`` followed by the files that wait, which do so no longer."""
        return "\n\n".join([message, *self.taken()])

    def taken(self) -> list[str]:
        """The files that wait, which do so no longer."""
        texts = self.texts()
        self.waiting.clear()
        return texts

    def texts(self) -> list[str]:
        """The files that wait, as they go with a message."""
        return [*map(_fenced, self.waiting)]

    @property
    def characters(self) -> int:
        """Of all files that wait."""
        return sum(len(file.text) for file in self.waiting)

    def _read(self, text: str) -> Attached:
        """Raises AttachmentRefused, InputNotText, SettingInvalid."""
        path = expanded(text)
        if len(self.waiting) >= MOST_FILES:
            raise AttachmentRefused(str(path), f"{MOST_FILES} files go with one message; send it")
        try:
            data = read_regular(path, MAX_BYTES)
        except OSError as error:
            why = f"{reason(error)}; text files of at most {MAX_BYTES >> 20} MB can go along"
            raise AttachmentRefused(str(path), why) from error
        try:
            return Attached(path.name, data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise InputNotText(str(path), error.start) from None

    def _show(self) -> None:
        if not self.waiting:
            self.screen.note("no file goes with your next message; /file PATH adds one")
            return
        names = ", ".join(
            f"{one_line(file.name)} ({size(len(file.text.encode()))})" for file in self.waiting
        )
        go = "goes" if len(self.waiting) == 1 else "go"
        files = counted(len(self.waiting), "file")
        self.screen.note(f"{files} {go} with your next message: {names}; /file none: not after all")


def _fenced(file: Attached) -> str:
    """Between fences that are longer than any in the text."""
    longest = max(map(len, re.findall(r"`{3,}", file.text)), default=0)
    fence = "`" * max(len(_FENCE), longest + 1)
    return f"{file.name}:\n{fence}\n{file.text.rstrip()}\n{fence}"
