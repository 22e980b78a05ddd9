"""What came of a model that was let call tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from split_client.chat.message import Message
from split_client.chat.reply import Reply
from split_client.chat.session import ChatSession
from split_client.chat.tool_turns import Allow, ToolTurns
from split_client.tools.call import ToolCall
from split_client.tools.tool import Tool


@dataclass(frozen=True, slots=True)
class ToolRun:
    """``messages``: the chat with calls and results, the last of them the answer; ``replies``: of
    each turn, with what it cost.
    """

    messages: tuple[Message, ...]
    replies: tuple[Reply, ...]

    @property
    def text(self) -> str:
        """The answer."""
        return self.replies[-1].text

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """All calls in order."""
        return tuple(call for reply in self.replies for call in reply.calls)


def tool_run(
    chat: ChatSession,
    messages: tuple[Message, ...],
    tools: Iterable[Tool | Callable[..., object]],
    choice: str,
    most_turns: int,
    allow: Allow,
) -> ToolRun:
    """Have ``chat`` answer ``messages``. Raises what :meth:`SplitClient.run` raises."""
    chat.conversation.replace(messages)
    chat.tools = tuple(tools)
    chat.tool_choice = choice
    replies = []
    for reply in ToolTurns(chat, most_turns, allow):
        reply.read()
        replies.append(reply)
    return ToolRun(chat.messages, tuple(replies))
