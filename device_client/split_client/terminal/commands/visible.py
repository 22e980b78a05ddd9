"""``/hide`` and ``/show``: what of the chat later replies see."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from split_client.api import ChatSession
from split_client.chat.visible.dead_turns import OVER
from split_client.chat.visible.errors import NothingToHide
from split_client.chat.visible.hiding import Hiding
from split_client.chat.visible.places import Part, always_seen
from split_client.chat.visible.recent import keep_recent
from split_client.chat.visible.tool_results import least_wanted
from split_client.errors import ServerRefused
from split_client.terminal.attention import AttentionView
from split_client.terminal.commands.command import Command, Group, Next
from split_client.terminal.output.sanitise import one_line
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import counted
from split_client.terminal.sampling import SettingInvalid
from split_wire.hiding.spans import Spans, count, union, without

_SHORT = 40
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
# From so many positions of a policy on it is proposed by itself.
_WORTH_PROPOSING = 512
_USAGE = "/hide takes positions (12-80), keep-recent N, tools, attention [P%] or dead"


@dataclass(slots=True)
class Visible:
    """Of one chat; ``proposed``: the policies that were told of; ``tools``: what the policy of that
    name has hidden; ``share``: of the chat that each message chooses to be seen, None: all.
    """

    chat: ChatSession
    screen: Screen
    attention: AttentionView
    proposed: set[str] = field(default_factory=set)
    tools: Spans = ()
    share: float | None = None

    def group(self) -> Group:
        return Group(
            "What later replies see",
            (
                Command(
                    ("hide",),
                    "hide [12-80 | keep-recent N | tools | attention [P%] | dead]",
                    "leave a part of the chat out of what replies see; alone: where it lies",
                    self.hide,
                ),
                Command(("show",), "show [12-80]", "let replies see all of it again", self.show),
            ),
        )

    def hide(self, text: str) -> Next:
        words = text.lower().split()
        if not words:
            self._list()
            return "stay"
        if words[0] == "attention" and len(words) < 3:
            return self._by_attention(_share(words[1:]))
        visible = self.chat.visible
        parts, fixed = self._parts(visible)
        match words:
            case ["keep-recent", number] if number.isdecimal() and len(number) < 10:
                spans = keep_recent(visible.length, int(number), fixed)
            case ["tools"]:
                spans = least_wanted(parts, _question(parts), fixed)
                self.tools = union(self.tools, spans)
            case ["dead"]:
                spans = self.attention.turns.dead(fixed)
                if not spans:
                    raise NothingToHide(
                        f"no turn is known to be dead; /attention has to be on for {OVER} replies"
                    )
            case _:
                spans = _spans(words)
        self._hide(visible, spans)
        return "stay"

    def show(self, text: str) -> Next:
        shown = self.chat.visible.show(_spans(text.split()) if text else None)
        if not text:
            self.tools, self.share = (), None
        self.screen.note(f"{counted(shown, 'position')} more that replies see")
        return "stay"

    def before(self, message: str) -> None:
        """Show what the policy of tools' results has hidden and ``message`` turns to, or have the
        reply see what the message attends to.
        """
        if self.share is not None:
            self._ask(message, self.share)
        if not self.tools:
            return
        visible = self.chat.visible
        self.tools = without(self.tools, without(self.tools, visible.hidden))
        if not self.tools:
            return
        wanted = least_wanted(visible.parts(), message, ())
        again = without(self.tools, wanted)
        if again:
            shown = visible.show(again)
            self.tools = without(self.tools, again)
            self.screen.note(f"shown again, as the message asks for it: {_positions(shown)}")

    def after(self) -> str:
        """What the status line says of it; a policy that would hide much is proposed once."""
        visible = self.chat.visible
        hidden = count(visible.hidden)
        if visible.offered and visible.ended is not None:
            self._propose(visible)
        return f"{hidden:,} hidden" if hidden else ""

    def _by_attention(self, share: float) -> Next:
        self.share, self.tools = share, ()
        self.screen.note(
            f"from your next message on, replies see about {share:.0%} of the chat before it: what "
            "the message attends to least is hidden, and chosen anew for each; /show ends that"
        )
        return "stay"

    def _ask(self, message: str, share: float) -> None:
        try:
            hidden = self.chat.ask_seeing(message, share)
        except NothingToHide:
            return
        except ServerRefused as refused:
            self.share = None
            self.screen.note(f"{refused}; the reply sees all of the chat")
        else:
            self.screen.note(f"{_positions(hidden)} that your message attends to least are hidden")

    def _propose(self, visible: Hiding) -> None:
        if "tools" not in self.proposed and any(m.role == "tool" for m in self.chat.messages):
            parts, fixed = self._parts(visible)
            spans = without(least_wanted(parts, _question(parts), fixed), visible.hidden)
            self._offer("tools", spans, "of tools' results share little with your question")
        dead = without(self.attention.turns.dead(()), visible.hidden)
        if "dead" not in self.proposed and dead:
            self._offer("dead", dead, "are of turns that the last replies hardly attended to")

    def _offer(self, policy: str, spans: Spans, what: str) -> None:
        if count(spans) >= _WORTH_PROPOSING:
            self.proposed.add(policy)
            self.screen.note(f"{_positions(count(spans))} {what}: /hide {policy} hides them")

    def _hide(self, visible: Hiding, spans: Spans) -> None:
        if not spans:
            raise NothingToHide("the first positions, the system message and your last one stay")
        hidden = visible.hide(spans)
        self.screen.note(
            f"{_positions(hidden)} hidden, {count(visible.hidden):,} of {visible.length:,} in all; "
            "replies from here on are approximate, /show lets them see all again"
        )

    def _parts(self, visible: Hiding) -> tuple[tuple[Part, ...], Spans]:
        parts = visible.parts()
        return parts, always_seen(parts)

    def _list(self) -> None:
        visible = self.chat.visible
        hidden = visible.hidden
        for part in visible.parts():
            own = ((part.start, part.end),)
            left = count(without(own, hidden))
            gone = count(own) - left
            told = f", {gone:,} of them hidden" if gone else ""
            text = one_line(part.text.strip(), _SHORT)
            self.screen.note(f"{part.start}-{part.end - 1} {part.role}{told}: {text}")
        self.screen.note(f"{count(hidden):,} of {visible.length:,} positions hidden; {_USAGE}")


def _positions(number: int) -> str:
    return counted(number, "position")


def _question(parts: tuple[Part, ...]) -> str:
    return next((part.text for part in reversed(parts) if part.role == "user"), "")


def _share(words: list[str]) -> float:
    """Of the positions that stay seen."""
    number = words[0].removesuffix("%") if words else "50"
    if not number.isdecimal() or not 1 <= int(number[:4]) <= 99:
        raise SettingInvalid("/hide attention takes how much stays seen, 1% to 99%")
    return int(number) / 100


def _spans(words: list[str]) -> Spans:
    """Positions as people write them, both ends included. Raises SettingInvalid."""
    spans: Spans = ()
    for word in words:
        match = _RANGE.fullmatch(word.rstrip(","))
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise SettingInvalid(_USAGE)
        spans = union(spans, ((int(match[1]), int(match[2] or match[1]) + 1),))
    return spans
