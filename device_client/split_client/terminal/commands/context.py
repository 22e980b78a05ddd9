"""``/context``, ``/drop``, ``/restore`` and ``/pin``: what of the chat travels to the model."""

from __future__ import annotations

import re
from dataclasses import dataclass

from split_client.api import ChatSession
from split_client.chat.context.pruning import POLICIES, left_of
from split_client.chat.context.room import Proposal
from split_client.chat.context.travelling import placed
from split_client.chat.context.units import units_of
from split_client.errors import ClientError
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.theme import Style
from split_client.terminal.output.words import counted, size, total_of
from split_client.terminal.sampling import SettingInvalid
from split_client.terminal.tools.confirming import Keys, TerminalKeys

_SHORT = 50
_LISTED = 200
_PLACE = re.compile(r"([1-9]\d{0,5})(?:\.([1-9]\d{0,5}))?")
_USAGE = f"/context takes a message's number, {', '.join(POLICIES)}, or budget N (budget model)"
_DROP = "/drop takes a message's number, a part of it such as 3.2, or oldest"


@dataclass(slots=True)
class Context:
    """Of one chat. ``keys`` answer what is asked where the context is full."""

    chat: ChatSession
    screen: Screen
    keys: Keys | None = None

    def __post_init__(self) -> None:
        self.chat.context.ask = self._ask
        self.chat.context.told = self._told

    def group(self) -> Group:
        return Group(
            "The context",
            (
                Command(
                    ("context",),
                    "context [WHAT]",
                    "how full it is, by message; N: the parts of a message; "
                    "ask, oldest, dimmest, pinned: what goes when it is full; budget N: tokens",
                    self.context,
                ),
                Command(
                    ("drop",),
                    "drop N[.M]",
                    "have a message, or a part of it, not travel; oldest: the oldest quarter",
                    self.drop,
                ),
                Command(("restore",), "restore [N]", "have it, or all, travel again", self.restore),
                Command(("pin",), "pin N", "never drop a message by itself, or again do", self.pin),
            ),
        )

    def context(self, text: str) -> Next:
        words = text.split()
        context = self.chat.context
        match words:
            case []:
                self._list()
            case [number] if number.isdecimal():
                self._parts(*_place(number, _USAGE))
            case ["budget", "model"]:
                context.set_budget(None)
                self._list()
            case ["budget", number] if number.isdecimal() and len(number) < 10:
                context.set_budget(int(number))
                self._list()
            case [policy] if policy in POLICIES:
                context.policy = policy
                self.screen.note(f"when the context is full: {_WORDS[context.policy]}")
                if policy == "dimmest" and self.chat.brighten is None:
                    self.screen.note(
                        "brightness is gathered with /attention on; without it the oldest go"
                    )
            case _:
                raise SettingInvalid(_USAGE)
        return "stay"

    def drop(self, text: str) -> Next:
        context = self.chat.context
        if text == "oldest":
            # About a quarter, also where there is room.
            target = min(context.fill().total, context.budget) * 3 // 4
            proposal = context.propose("oldest", target)
            if proposal is None:
                self.screen.note("nothing more may be dropped by itself; /drop N does it by hand")
            else:
                context.take(proposal)
            return "stay"
        before = context.fill().total
        message, unit = _place(text, _DROP)
        context.drop(message, unit)
        self._changed(before, "left out")
        return "stay"

    def restore(self, text: str) -> Next:
        before = self.chat.context.fill().total
        changed = self.chat.context.restore(_place(text, _DROP)[0] if text else None)
        if not changed:
            self.screen.note("nothing is left out of it" if text else "nothing is left out")
            return "stay"
        self._changed(before, f"{counted(changed, 'message')} restored")
        return "stay"

    def pin(self, text: str) -> Next:
        message, unit = _place(text, "/pin takes a message's number")
        if unit is not None:
            raise SettingInvalid("/pin takes a whole message, such as /pin 3")
        chat = self.chat.messages
        pinned = message < len(chat) and chat[message].pinned
        self.chat.context.pin(message, not pinned)
        self.screen.note(
            f"message {message + 1} is {'not pinned any more' if pinned else 'pinned'}"
        )
        return "stay"

    def after(self) -> str:
        """What the status line says of it; nothing where a template makes nothing of the chat."""
        try:
            fill = self.chat.context.fill()
        except ClientError:
            return ""
        return f"context {total_of(fill)} of {fill.budget:,}"

    def _list(self) -> None:
        context, chat = self.chat.context, self.chat.messages
        fill, sent = context.fill(), {index for index, _ in placed(chat)}
        for index, (message, tokens) in enumerate(zip(chat, fill.messages, strict=True)):
            gone = index not in sent or (message.dropped and not message.left.strip())
            told = ["left out" if gone else f"{tokens:,}"]
            told += ["in part"] if message.dropped and not gone else []
            told += ["pinned"] if message.pinned else []
            text = one_line(message.content, _SHORT)
            self.screen.note(f"{index + 1:>4}  {message.role} ({', '.join(told)}): {text}")
        self.screen.note(
            f"context {total_of(fill)} of {fill.budget:,} tokens, {fill.template:,} of them the "
            f"chat template's and tools'; when it is full: {_WORDS[context.policy]}"
        )

    def _parts(self, message: int, _: int | None) -> None:
        chat = self.chat.messages
        if message >= len(chat):
            raise SettingInvalid(f"the chat has {counted(len(chat), 'message')}; {_USAGE}")
        units, left = units_of(chat[message]), set(left_of(chat[message]))
        for number, unit in enumerate(units[:_LISTED], 1):
            gone = unit not in left
            text = one_line(chat[message].content[unit.start : unit.stop].strip(), _SHORT)
            shown = self.screen.theme.paint(text, Style("note", struck=gone))
            left_out = "(left out) " if gone else ""
            self.screen.line(f"{message + 1}.{number:<3} {_KINDS[unit.kind]}{left_out}{shown}")
        if len(units) > _LISTED:
            self.screen.note(f"and {len(units) - _LISTED:,} more")

    def _changed(self, before: int, what: str) -> None:
        after = self.chat.context.fill().total
        fewer = "fewer" if after < before else "more"
        self.screen.note(f"{what}: {abs(after - before):,} tokens {fewer}; {self._again()}")

    def _again(self) -> str:
        return self._sent(*self.chat.context.again())

    def _sent(self, tokens: int, moved: int) -> str:
        """What a cut costs."""
        about = size(tokens * self.chat.row_bytes)
        told = f"the next message sends {tokens:,} tokens of the chat again, about {about}"
        if moved:
            told += f", ≈{moved:,} are moved"
        if self.chat.noise is not None:
            told += "; with noise each of them counts anew against your budget"
        return told

    def _ask(self, proposal: Proposal) -> bool:
        if self.keys is None and not self.screen.interactive:
            return False
        fill = self.chat.context.fill()
        self.screen.note(
            f"the context is full: {total_of(fill)} of {fill.budget:,} tokens. Leaving the oldest "
            f"{counted(proposal.pruned.units, 'part')} out frees {proposal.pruned.freed:,} tokens; "
            f"{self._sent(proposal.sent, proposal.moved)}"
        )
        keys = self.keys or TerminalKeys(self.screen)
        keys.drop()
        self.screen.note("leave them out? y: yes, n: no, a: always without a question")
        key = keys.press()
        if key == "a":
            self.chat.context.policy = "oldest"
        return key in ("y", "a")

    def _told(self, proposal: Proposal) -> None:
        pruned = proposal.pruned
        if self.chat.context.policy == "dimmest" and not self.chat.brightness.known:
            self.screen.note("no brightness is known of this chat, so the oldest parts go")
        self.screen.note(
            f"{counted(pruned.units, 'part')} of the chat left out, {pruned.freed:,} tokens freed; "
            f"{self._sent(proposal.sent, proposal.moved)}; /restore brings them back"
        )


_KINDS = {"sentence": "", "code": "[code] ", "table": "[table] ", "result": "[result] "}
_WORDS = {
    "ask": "it is asked",
    "oldest": "the oldest sentences go",
    "dimmest": "the sentences go that replies looked at least",
    "pinned": "all that is not pinned goes",
}


def _place(text: str, usage: str) -> tuple[int, int | None]:
    """A message and a part of it, from 0. Raises SettingInvalid."""
    match = _PLACE.fullmatch(text)
    if match is None:
        raise SettingInvalid(usage)
    return int(match[1]) - 1, None if match[2] is None else int(match[2]) - 1
