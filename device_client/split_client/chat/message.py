"""A message of a chat, as it is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from split_client.tools.call import ToolCall

ROLES: Final = ("system", "user", "assistant", "tool")
Range: TypeAlias = tuple[int, int]
"""From the first to behind the last, in Unicode code points."""


@dataclass(frozen=True, slots=True)
class Message:
    """``role``: system, user, assistant or tool.

    ``tool_calls``: those of the assistant's; ``tool_call_id``: which of them a tool's message is
    the result of, ``name``: which tool's. ``dropped``: ranges of its content, in order and apart,
    that are kept here and not given to the model; ``pinned``: no policy drops any of it.
    ``brightness`` of its content, as :mod:`split_client.chat.brightness.runs` keeps it; a message
    is the same whatever has looked at it.
    """

    role: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    dropped: tuple[Range, ...] = ()
    pinned: bool = False
    brightness: str = field(default="", compare=False)

    def as_dict(self) -> dict[str, Any]:
        """As files and OpenAI's API have it."""
        made: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            made["tool_calls"] = [call.as_dict() for call in self.tool_calls]
        if self.tool_call_id is not None:
            made["tool_call_id"] = self.tool_call_id
        if self.name is not None:
            made["name"] = self.name
        if self.dropped:
            made["dropped"] = [list(range_) for range_ in self.dropped]
        if self.pinned:
            made["pinned"] = True
        if self.brightness:
            made["brightness"] = self.brightness
        return made

    @property
    def left(self) -> str:
        """Its content without what is dropped."""
        if not self.dropped:
            return self.content
        begins, ends = [0, *(stop for _, stop in self.dropped)], [a for a, _ in self.dropped]
        parts = zip(begins, [*ends, len(self.content)], strict=True)
        return "".join(self.content[start:stop] for start, stop in parts)

    @property
    def size(self) -> int:
        """Characters of all that it holds."""
        calls = sum(len(call.name) + len(call.arguments) for call in self.tool_calls)
        return len(self.content) + calls


def without_result(messages: tuple[Message, ...]) -> list[ToolCall]:
    """Calls of the last reply that have no result yet, where nothing else came after it."""
    answered = set[str | None]()
    for message in reversed(messages):
        if message.role != "tool":
            return [call for call in message.tool_calls if call.id not in answered]
        answered.add(message.tool_call_id)
    return []
