"""``/continue``, ``/tokens``, ``/at`` and ``/branches``: replies that go on, or another way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from split_client.api import ChatSession, ReplyToken
from split_client.chat.steering.branches import Chat
from split_client.chat.steering.errors import BranchInvalid, NothingToContinue
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.commands.turns import Turns
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.surprise import named, surprise_legend, surprise_lines
from split_client.terminal.output.words import counted
from split_client.terminal.sampling import SettingInvalid

_SHORT = 50
_MOST_SURPRISING = 8
_LISTED = 200
# Each takes a pass of the LM head, which is 26 ms with a large vocabulary.
_SURVEYED = 256
_PLACE = re.compile(r"([1-9]\d{0,6})(?:-([1-9]\d{0,6}))?")
_TOKENS = "/tokens takes a token's number, or two, such as /tokens 5 or /tokens 10-30"
_AT = "/at takes a token's number and an alternative, such as /at 5 2, or /at 5 Paris"


@dataclass(slots=True)
class Steering:
    """Of one chat; ``turns`` begins the replies."""

    chat: ChatSession
    screen: Screen
    turns: Turns

    def group(self) -> Group:
        return Group(
            "Steering",
            (
                Command(
                    ("continue",),
                    "continue",
                    "go on with the last reply: stopped, cut, or changed by /amend",
                    self.go_on,
                ),
                Command(
                    ("tokens",),
                    "tokens [N]",
                    "how likely the last reply's tokens were; what could have come at token N",
                    self.tokens,
                ),
                Command(
                    ("at",),
                    "at N ALTERNATIVE",
                    "go on from token N with another one: its number in /tokens N, or its text",
                    self.at,
                ),
                Command(
                    ("branches",),
                    "branches [N]",
                    "list what the chat was before it went another way, or go back to one",
                    self.branches,
                ),
            ),
        )

    def go_on(self, _: str) -> Next:
        self.turns.begin = self.chat.go_on
        return "answer"

    def tokens(self, text: str) -> Next:
        tokens = self._tokens()
        if not text:
            self._overview(tokens)
            return "stay"
        match = _PLACE.fullmatch(text)
        if match is None:
            raise SettingInvalid(_TOKENS)
        first, last = int(match[1]), int(match[2] or match[1])
        if not first <= last <= len(tokens):
            raise SettingInvalid(f"the reply has {counted(len(tokens), 'token')}; {_TOKENS}")
        if match[2]:
            self._list(tokens, range(first, min(last, first + _LISTED - 1) + 1))
        else:
            self._alternatives(tokens[first - 1], first)
        return "stay"

    def at(self, text: str) -> Next:
        number, _, wanted = text.partition(" ")
        wanted = wanted.strip()
        if not _PLACE.fullmatch(number) or "-" in number or not wanted:
            raise SettingInvalid(_AT)
        tokens, at = self._tokens(), int(number)
        if at > len(tokens):
            raise SettingInvalid(f"the reply has {counted(len(tokens), 'token')}; {_AT}")
        token = _chosen(tokens[at - 1], wanted)
        self.turns.begin = lambda: self.chat.branch(at - 1, token)
        return "answer"

    def branches(self, text: str) -> Next:
        if text:
            if not text.isdecimal() or len(text) > 4:
                raise SettingInvalid("/branches takes the number of one, such as /branches 1")
            self.chat.go_to(int(text))
            self.screen.note(f"the chat is again: {_told(self.chat.messages)}")
            return "stay"
        for number, chat in enumerate(self.chat.branches.all, 1):
            self.screen.note(f"{number}  {_told(chat)}")
        if not self.chat.branches.all:
            self.screen.note("the chat has gone no other way yet")
        return "stay"

    def _tokens(self) -> Sequence[ReplyToken]:
        tokens = self.chat.tokens
        if not tokens:
            raise NothingToContinue(
                "the tokens of the newest reply are not known: it is none of this session, or the "
                "chat was changed since"
            )
        return tokens

    def _overview(self, tokens: Sequence[ReplyToken]) -> None:
        first = max(0, len(tokens) - _SURVEYED)
        if self.screen.coloured:
            self.screen.line()
            for line in surprise_lines(tokens[first:], self.screen.out):
                self.screen.line(line)
            self.screen.line()
            self.screen.line(surprise_legend())
        known = [at for at in range(first, len(tokens)) if tokens[at].known]
        known.sort(key=lambda at: tokens[at].logprob or 0.0)
        newest = f", of the newest {_SURVEYED}" if first else ""
        self.screen.note(f"{counted(len(tokens), 'token')}; the most surprising ones{newest}:")
        self._list(tokens, [at + 1 for at in known[:_MOST_SURPRISING]])
        self.screen.note("/tokens N lists what else could have come at one of them")

    def _list(self, tokens: Sequence[ReplyToken], numbers: Sequence[int]) -> None:
        for number in numbers:
            token = tokens[number - 1]
            self.screen.note(f"{number:>5}  {_percent(token.probability)}  {named(token.text)}")

    def _alternatives(self, token: ReplyToken, number: int) -> None:
        if not token.known:
            self.screen.note(
                f"token {number}, {named(token.text)}: nothing is kept of it; the form left no "
                "choice, or the reply is longer than what is kept"
            )
            return
        self.screen.note(
            f"token {number} is {named(token.text)}, {_percent(token.probability).strip()}:"
        )
        for rank, each in enumerate(token.alternatives, 1):
            chosen = " ← said" if each.token == token.id else ""
            self.screen.note(f"{rank:>5}  {_percent(each.probability)}  {named(each.text)}{chosen}")
        self.screen.note(f"/at {number} and the number of one goes on from there")


def _chosen(token: ReplyToken, wanted: str) -> int | str:
    """The token of an alternative by its number, or a text."""
    if not wanted.isdecimal() or len(wanted) > 2:
        return wanted.strip('"') if len(wanted) > 2 else wanted
    alternatives = token.alternatives
    if not 1 <= int(wanted) <= len(alternatives):
        raise BranchInvalid(f"there are {len(alternatives)} alternatives and no {int(wanted)}")
    return alternatives[int(wanted) - 1].token


def _told(chat: Chat) -> str:
    """A chat in one line: how long it is, and how its reply begins and ends."""
    text = one_line(chat[-1].content, 1 << 16)
    if len(text) > 2 * _SHORT:
        text = f"{text[:_SHORT]} … {text[-_SHORT:]}"
    return f"{counted(len(chat), 'message')}: {text}"


def _percent(probability: float | None) -> str:
    """Six columns."""
    if probability is None:
        return "     ?"
    return f"{probability:6.1%}" if probability >= 0.001 else " <0.1%"
