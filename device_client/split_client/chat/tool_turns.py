"""Replies and runs of the tools that they call, in turn, until a reply calls none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Final

from split_client.chat.reply import Reply
from split_client.chat.session import ChatSession
from split_client.tools.call import ToolCall
from split_client.tools.running import failed, refusal, run_call
from split_client.tools.tool import Tool

MOST_TURNS: Final = 8
DECLINED: Final = failed("the user declined this call")
STOPPED: Final = failed("the user stopped before this call was run")

Allow = Callable[[ToolCall, Tool], "bool | Unasked"]
"""Whether a call, whose arguments fit its tool, may be run; UNASKED: it may, and nobody was asked
about this one.
"""


class Unasked(Enum):
    """A call is run that nobody has looked at: with redaction it gets surrogates."""

    RUN = "run"


UNASKED: Final = Unasked.RUN


class ToolTurns:
    """Iterate it for replies; read each to its end before the next, which runs what it calls.

    ``most_turns``: replies in all (1 or more); the last one is made without calls, and so ends the
    turns. A choice other than auto and none holds for the first alone. ``allow`` is asked before
    each call; ``told`` gets each call with its result.
    """

    def __init__(
        self,
        chat: ChatSession,
        most_turns: int = MOST_TURNS,
        allow: Allow = lambda _call, _tool: UNASKED,
        told: Callable[[ToolCall, str], None] = lambda _call, _result: None,
    ) -> None:
        if most_turns < 1:
            raise ValueError("most_turns is a whole number from 1")
        self._chat, self._most = chat, most_turns
        self._allow, self._told = allow, told

    def __iter__(self) -> Iterator[Reply]:
        chat, wanted = self._chat, self._chat.tool_choice
        try:
            for turn in range(1, self._most + 1):
                if turn > 1 and wanted != "none":
                    chat.tool_choice = "auto"
                if turn == self._most and turn > 1:
                    chat.tool_choice = "none"
                reply = chat.answer()
                yield reply
                if not chat.conversation.waiting or reply.finish_reason == "cancelled":
                    return
                self.run_waiting()
        finally:
            chat.tool_choice = wanted

    def run_waiting(self) -> None:
        """Run the calls that wait for a result. One that is broken off, and those behind it, get
        one that says so.
        """
        tools = {tool.name: tool for tool in self._chat.tools}
        try:
            for call in self._chat.conversation.waiting:
                result = self._result(call, tools)
                self._chat.conversation.result(call, result)
                self._told(call, result)
        except BaseException:
            for call in self._chat.conversation.waiting:
                self._chat.conversation.result(call, STOPPED)
            raise

    def _result(self, call: ToolCall, tools: dict[str, Tool]) -> str:
        # What a person looks at, and what a confirmed call gets, are the values themselves.
        redaction = self._chat.redaction
        meant = redaction.call(call)
        refused = refusal(meant, tools)
        if refused is not None:
            return refused
        allowed = self._allow(meant, tools[call.name])
        if allowed is UNASKED:
            # Surrogates in its result are the chat's own.
            given = {call.name: redaction.tool(tools[call.name])}
            return redaction.undone(run_call(call, given))
        return run_call(meant, tools) if allowed else DECLINED
