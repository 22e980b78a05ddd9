"""``/attention``: what the newest token of a chat attends to, shown after each reply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from split_client.api import ChatSession, SplitClient
from split_client.chat.attended import MEAN_ROWS, Attended, Transcript
from split_client.chat.brightness.rows import DEFAULT
from split_client.chat.context.units import units_of
from split_client.chat.visible.dead_turns import TurnAttention
from split_client.errors import ServerRefused
from split_client.model.token_pieces import pieces_of
from split_client.terminal.input.interrupt import stops_reply
from split_client.terminal.output.brightness import legend
from split_client.terminal.output.fold import columns, rows
from split_client.terminal.output.heat_map import heat_map
from split_client.terminal.output.sanitise import one_line, sanitise
from split_client.terminal.output.screen import Screen
from split_client.terminal.output.words import counted
from split_client.terminal.sampling import SettingInvalid
from split_wire.attention import AttentionWeights
from split_wire.errors import AttentionTooLarge, Unsupported

# Why it makes no sense to ask again after the next reply.
_REFUSALS = {
    Unsupported.code: "this server does not tell attention",
    AttentionTooLarge.code: "the attention of this chat is too large for one answer",
}
_NAMED, _LISTED, _PLACES = 3, 8, 5
_SHORT = 50
_LONGEST_NAME = 20
_WORTH_TELLING = 0.001
# What stands around the conversation: blank lines, legend, names and shares, the prompt.
_ROWS_AROUND = 9


@dataclass(slots=True)
class AttentionView:
    """Whether it is on, how often the server was ``asked``, and one chat's way to the screen."""

    client: SplitClient
    chat: ChatSession
    screen: Screen
    on: bool = False
    asked: int = 0
    turns: TurnAttention = field(default_factory=TurnAttention)

    def command(self, text: str) -> None:
        """Toggle, or with ``now`` show it once. Raises SettingInvalid and what showing raises."""
        if text not in ("", "now", "on", "off"):
            raise SettingInvalid(f"/attention takes 'now' or nothing, not {text[:40]!r}")
        if text == "now":
            if not self.show():
                self.screen.note("no reply to show the attention of")
            return
        self.on = not self.on if not text else text == "on"
        if self.on:
            self.chat.brighten = self.chat.brighten or DEFAULT
            self.screen.note(
                "attention is on: it is shown after each reply, and gathered for /brightness; each "
                "token has a step of its own, without drafts"
            )
            self.show()
        else:
            self.chat.brighten = None
            self.screen.note("attention is off")

    def show(self) -> bool:
        """Ask for it and print it; false if there is no reply. Raises the errors of a step."""
        transcript = self._transcript()
        if transcript is None:
            return False
        try:
            weights = self._weights(transcript)
        except ServerRefused as error:
            self._refused(error)
        else:
            self.turns.note(self.chat.visible.parts(), _row(weights))
            self._print(transcript.attended(weights))
            self._print_places()
        return True

    def gives_up(self, error: ServerRefused) -> bool:
        """Whether a reply failed because it asked for attention, which it does no more."""
        if error.code not in _REFUSALS or self.chat.brighten is None:
            return False
        self._refused(error)
        return True

    def _transcript(self) -> Transcript | None:
        answered = self.chat.answered
        if answered is None:
            return None
        pieces = pieces_of(self.client.ends.tokenizer, answered.ids)
        transcript = Transcript(pieces, answered.prompt_tokens, answered.messages)
        return transcript if transcript.read else None

    def _weights(self, transcript: Transcript) -> AttentionWeights:
        self.asked += 1
        ids = () if self.chat.answered is None else self.chat.answered.ids
        with stops_reply(self.client.cancel):
            return self.chat.attend(ids[: transcript.read], MEAN_ROWS)

    def _refused(self, error: ServerRefused) -> None:
        if error.code not in _REFUSALS:
            raise error
        self.on, self.chat.brighten = False, None
        self.screen.note(f"{_REFUSALS[error.code]}; /attention is off")

    def _print(self, attended: Attended) -> None:
        if self.screen.coloured:
            self._print_map(attended)
        else:
            self.screen.note(f"{_name(attended.newest)} attends to")
            for text, weight in attended.most(_LISTED):
                self.screen.note(f"{_percent(weight):>6}  {_name(text)}")
        self.screen.note(_elsewhere(attended))

    def _print_places(self) -> None:
        """The parts of earlier turns that the whole reply looked at."""
        looks = self.chat.brightness.looks
        if looks is None or not looks.places:
            return
        self.screen.note(f"the reply looked at its own turn {_percent(looks.turn)}, and at")
        for place in looks.places[:_PLACES]:
            unit, message = place.unit, self.chat.messages[place.number]
            text = one_line(message.content[unit.start : unit.stop].strip(), _SHORT)
            units = [each.start for each in units_of(message)]
            number = f"{place.number + 1}.{units.index(unit.start) + 1}"
            self.screen.note(f"{_percent(place.share):>6}  {number}  {text}")

    def _print_map(self, attended: Attended) -> None:
        from prompt_toolkit.utils import get_cwidth

        out = self.screen.out
        lines, hidden = heat_map(attended, columns(out) - 1, rows(out) - _ROWS_AROUND, get_cwidth)
        self.screen.line()
        for line in lines:
            self.screen.line(line)
        self.screen.line()
        self.screen.line(legend())
        self.screen.note(f"{_name(attended.newest)} attends to {', '.join(_strongest(attended))}")
        if hidden:
            self.screen.note(f"{counted(hidden, 'earlier message')} not shown")


def _row(weights: AttentionWeights) -> NDArray[np.float64]:
    """The mean over layers and heads, by position."""
    mean: NDArray[np.float64] = weights.values.mean(axis=(0, 1), dtype=np.float64)
    return mean


def _strongest(attended: Attended) -> Iterator[str]:
    for text, weight in attended.most(_NAMED):
        yield f"{_name(text)} {_percent(weight)}"


def _elsewhere(attended: Attended) -> str:
    """The share of no message; models differ in whether they use the first position as a sink."""
    first = f"{_percent(attended.first)} on the first position, "
    return (
        f"{first if attended.first >= _WORTH_TELLING else ''}"
        f"{_percent(attended.template)} on the chat template"
    )


def _name(text: str) -> str:
    """A token between quotes, on one line; white space alone is made visible."""
    harmless = sanitise(text)
    name = harmless.strip() or harmless.replace("\n", "↵").replace("\t", "⇥").replace(" ", "␣")
    return f"“{name[:_LONGEST_NAME].replace(chr(10), '↵')}”"


def _percent(share: float) -> str:
    return f"{share:.1%}"
