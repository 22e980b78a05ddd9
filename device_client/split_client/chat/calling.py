"""What a chat with tools adds to a reply: the grammar of calls, and their reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from split_client.generation.constraint import Constraint
from split_client.generation.loop import Event, Finished
from split_client.grammar.errors import GrammarInvalid
from split_client.grammar.form import JsonSchema
from split_client.model.ends import DeviceEnds
from split_client.tools.call import ToolCall, new_call_id
from split_client.tools.constraint import CallConstraint
from split_client.tools.families import HERMES, CallForm, call_form_of
from split_client.tools.grammars import call_tokens, calling
from split_client.tools.reading import FreeReader, Piece
from split_client.tools.tool import CHOICES, Tool, checked_choice, checked_tools

MAX_CALLS: Final = 32


class CallListener:
    """Takes the calls out of a reply's events; ``calls`` are those so far.

    ``control``: texts of control tokens, which are no part of an event's text: those that are marks
    of the form are put back for the reader.
    """

    def __init__(self, form: CallForm, names: frozenset[str], control: dict[int, str]) -> None:
        self._reader = FreeReader(None, MAX_CALLS, new_call_id, (form,), names)
        marks = {*form.texts}
        self._marks = {token: text for token, text in control.items() if text in marks}
        self.calls: list[ToolCall] = []

    def begun(self, tokens: Iterable[tuple[int, str]]) -> str:
        """What of the beginning of a reply, tokens and their texts, is certain to be no call."""
        told = (self._reader.push(text + self._marks.get(token, "")) for token, text in tokens)
        return self._text([piece for pieces in told for piece in pieces])

    def heard(self, event: Event) -> Event:
        """``event`` with what of its text is no call."""
        if isinstance(event, Finished):
            pieces = [*self._reader.push(event.text), *self._reader.finish()]
        else:
            pieces = self._reader.push(event.text + self._marks.get(event.token, ""))
        return replace(event, text=self._text(pieces))

    def _text(self, pieces: list[Piece]) -> str:
        self.calls += [piece for piece in pieces if isinstance(piece, ToolCall)]
        return "".join(piece for piece in pieces if isinstance(piece, str))


def text_before_calls(tokens: Iterable[tuple[int, str]], listener: CallListener | None) -> str:
    """The text of a reply's first tokens that is no call; ``listener`` None: all of it."""
    return "".join(text for _, text in tokens) if listener is None else listener.begun(tokens)


class CallMaker:
    """The tools of one chat, and its model's way to call them.

    ``tools`` and ``choice`` (auto, required, none, or the name of a tool) may be changed at any
    time. ``out``: makes of a tool what the model is told of it. Raises ToolsInvalid,
    ToolChoiceInvalid.
    """

    def __init__(self, ends: DeviceEnds, out: Callable[[Tool], Tool] = lambda tool: tool) -> None:
        self._ends, self._out = ends, out
        template = ends.chat_template
        self._form = HERMES if template is None else call_form_of(template.source) or HERMES
        self._tools: tuple[Tool, ...] = ()
        self._choice = "auto"

    @property
    def tools(self) -> tuple[Tool, ...]:
        return self._tools

    @tools.setter
    def tools(self, tools: Sequence[Tool | Callable[..., object]]) -> None:
        self._tools = checked_tools(tools)
        # A choice by name of a tool that is gone would refuse every reply.
        if self._choice not in CHOICES:
            self._choice = "auto"

    @property
    def choice(self) -> str:
        return self._choice

    @choice.setter
    def choice(self, choice: str) -> None:
        self._choice = checked_choice(choice, self._tools)

    def named(self) -> dict[str, Tool]:
        """The tools by name."""
        return {tool.name: tool for tool in self._tools}

    def documents(self) -> tuple[dict[str, Any], ...]:
        """As a chat template takes them."""
        return tuple(tool.document() for tool in self._tools)

    def listener(self) -> CallListener | None:
        """Of one reply; None where none of it is a call."""
        if not self._tools or self._choice == "none":
            return None
        names = frozenset(tool.name for tool in self._tools)
        return CallListener(self._form, names, self._ends.tokenizer.control)

    def constraint(self) -> CallConstraint | None:
        """Of one reply; None where anything may be written.

        Raises GrammarInvalid and its kinds where a call is required that cannot be.
        """
        if not self._tools or self._choice == "none":
            return None
        required = self._choice != "auto"
        wanted = ("auto", "required")
        tools = (tool for tool in self._tools if self._choice in (*wanted, tool.name))
        chosen = [*map(self._out, tools)]
        ends = self._ends
        tokens = call_tokens(ends.tokenizer, ends.manifest.vocab_size, self._form)
        return calling(
            tokens, chosen, self._form, self._compiled, GrammarInvalid, required=required
        )

    def _compiled(self, schema: dict[str, Any]) -> Callable[[], Constraint]:
        return self._ends.forms.constraint(JsonSchema.of(schema))
