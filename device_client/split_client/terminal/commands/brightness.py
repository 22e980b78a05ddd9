"""``/brightness``: how much replies looked at each part of the chat, on the screen or in a file."""

from __future__ import annotations

from dataclasses import dataclass

from split_client.api import ChatSession
from split_client.chat.brightness.formula import BRIGHTEST
from split_client.chat.brightness.rows import MODES, mode_of
from split_client.chat.brightness.view import ChatBrightness
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.output.brightness import tint, tint_legend
from split_client.terminal.output.fold import columns
from split_client.terminal.output.heat_map import shaded
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.width import measure
from split_client.terminal.output.words import counted
from split_client.terminal.paths import expanded, unquoted
from split_client.terminal.sampling import SettingInvalid

_SHORT = 50
_LISTED = 200
# Characters of the chat that are tinted, its newest ones.
_TINTED = 20_000
_USAGE = (
    f"/brightness takes a message's number, {', '.join(MODES)}, off, or a file that ends in .json "
    "or .npz"
)


@dataclass(slots=True)
class Brightness:
    """Of one chat."""

    chat: ChatSession
    screen: Screen

    def group(self) -> Group:
        return Group(
            "Brightness",
            (
                Command(
                    ("brightness",),
                    "brightness [WHAT]",
                    "how much replies looked at each part; N: the parts of a message; "
                    f"{', '.join(MODES)}: gather it so; off; FILE.json, FILE.npz: write it",
                    self.brightness,
                ),
            ),
        )

    def brightness(self, text: str) -> Next:
        if not text:
            self._show(self.chat.brightness)
        elif text in MODES or text == "off":
            self._gather(None if text == "off" else text)
        elif text.isdecimal() and len(text) < 6:
            self._parts(int(text) - 1)
        elif unquoted(text).endswith((".json", ".npz")):
            path = expanded(unquoted(text))
            self.chat.brightness.save(path)
            self.screen.note(f"brightness written to {one_line(str(path))}; only you can read it")
        else:
            raise SettingInvalid(_USAGE)
        return "stay"

    def _gather(self, mode: str | None) -> None:
        self.chat.brighten = None if mode is None else mode_of(mode)
        if mode is None:
            self.screen.note("brightness is not gathered any more; what is known stays")
        else:
            self.screen.note(
                f"brightness is gathered from {_WORDS[mode]}; each token has a step of its own, "
                "without drafts"
            )

    def _show(self, bright: ChatBrightness) -> None:
        if not bright.known:
            mode = self.chat.brighten
            now = f"from {_WORDS[mode]} with the next replies" if mode else "with /attention on"
            self.screen.note(f"no reply has looked at the chat yet: brightness is gathered {now}")
            return
        if self.screen.coloured:
            self._tint(bright)
        for number, (message, own) in enumerate(
            zip(self.chat.messages, bright.messages, strict=True), 1
        ):
            text = one_line(message.content, _SHORT)
            self.screen.note(f"{number:>4}  {message.role} {_share(own)}: {text}")
        self.screen.note("/brightness N lists the parts of a message")

    def _tint(self, bright: ChatBrightness) -> None:
        room, wide = _TINTED, columns(self.screen.out) - 1
        texts = list[list[str]]()
        for number in range(len(self.chat.messages) - 1, -1, -1):
            room -= len(self.chat.messages[number].content)
            if room < 0 and texts:
                self.screen.note(f"{counted(number + 1, 'earlier message')} not tinted")
                break
            spans = ((token.text, tint(token.brightness)) for token in bright.tokens(number))
            texts.insert(0, shaded(spans, wide, measure))
        for lines in texts:
            self.screen.line()
            for line in lines:
                self.screen.line(line)
        self.screen.line()
        self.screen.line(tint_legend())

    def _parts(self, message: int) -> None:
        units = self.chat.brightness.units(message)
        content = self.chat.messages[message].content
        for number, (unit, own) in enumerate(units[:_LISTED], 1):
            text = one_line(content[unit.start : unit.stop].strip(), _SHORT)
            self.screen.note(f"{message + 1}.{number:<3} {_share(own)}  {text}")
        if len(units) > _LISTED:
            self.screen.note(f"and {len(units) - _LISTED:,} more")


_WORDS = {
    "mean": "the mean over all layers",
    "maximum": "the largest weights of all heads",
    "weighted": "four layers, the later ones counting more",
    "last": "the last layers",
}


def _share(brightness: int) -> str:
    return f"{brightness / BRIGHTEST:.0%}"
