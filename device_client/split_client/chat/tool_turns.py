"""Replies and runs of the tools that they call, in turn, until a reply calls none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from split_client.chat.reply import Reply
from split_client.chat.session import ChatSession
from split_client.tools.call import ToolCall
from split_client.tools.running import failed, refusal, run_call
from split_client.tools.tool import Tool

MOST_TURNS: Final = 8
DECLINED: Final = failed("the user declined this call")
STOPPED: Final = failed("the user stopped before this call was run")

Allow = Callable[[ToolCall, Tool], bool]
"""Whether a call, whose arguments fit its tool, may be run."""


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
        allow: Allow = lambda _call, _tool: True,
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
        refused = refusal(call, tools)
        if refused is not None:
            return refused
        return run_call(call, tools) if self._allow(call, tools[call.name]) else DECLINED
