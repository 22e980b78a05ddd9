"""Messages and tools as chat templates take them.

What strangers wrote, results and definitions of tools, goes through ``plain``, which sees to it
that no control token comes of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from split_client.chat.message import Message
from split_client.tools.call import ToolCall
from split_client.tools.families import HERMES, CallForm

Plain: TypeAlias = Callable[[str], str]
Documents: TypeAlias = list[dict[str, Any]]

_EXPLAINED: Final = (
    "You may call these tools, one JSON object a line:\n{tools}\nTo call one, write\n{example}\n"
    "Its result comes between <tool_response> and </tool_response>."
)
_EXAMPLE: Final = '{"name": NAME, "arguments": {...}}'


@dataclass(frozen=True, slots=True)
class Written:
    """``tools`` None: the template gets none."""

    messages: Documents
    tools: Documents | None


def written(
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]],
    form: CallForm | None,
    plain: Plain,
) -> Written:
    """``form``: that of the template's calls, None for one that has no place for tools; then calls
    and results are written out in the messages around them.
    """
    if not tools and all(message.role != "tool" for message in messages):
        return Written([_document(message, plain) for message in messages], None)
    offered = [_everywhere(tool, plain) for tool in tools]
    if form is not None:
        return Written([_document(message, plain) for message in messages], offered or None)
    return Written(_with_tools(_spelled(messages, plain), offered), None)


def _document(message: Message, plain: Plain) -> dict[str, Any]:
    if message.role == "tool":
        told = {"tool_call_id": message.tool_call_id or "", "name": message.name or ""}
        return {"role": "tool", "content": plain(message.content)} | told
    made: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        made["tool_calls"] = [_call(call, plain) for call in message.tool_calls]
    return made


def _call(call: ToolCall, plain: Plain) -> dict[str, Any]:
    # Templates write arguments out as JSON, so they are given values in place of their text.
    function = {"name": call.name, "arguments": _everywhere(call.values(), plain)}
    return {"id": call.id, "type": "function", "function": function}


def _everywhere(value: Any, plain: Plain) -> Any:
    """``value`` with all its texts made plain, keys as well."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, Mapping):
        return {plain(str(key)): _everywhere(inner, plain) for key, inner in value.items()}
    return [_everywhere(inner, plain) for inner in value] if isinstance(value, list) else value


def _spelled(messages: Sequence[Message], plain: Plain) -> Documents:
    """Calls in the text of replies, results in messages of the user's, those in a row in one."""
    made: Documents = []
    results = False
    for message in messages:
        if message.role != "tool":
            calls = [_spelled_call(call, plain) for call in message.tool_calls]
            content = "\n".join([*filter(None, [message.content]), *calls])
            made.append({"role": message.role, "content": content})
        else:
            content = f"<tool_response>\n{plain(message.content)}\n</tool_response>"
            if results:
                made[-1]["content"] += f"\n{content}"
            else:
                made.append({"role": "user", "content": content})
        results = message.role == "tool"
    return made


def _spelled_call(call: ToolCall, plain: Plain) -> str:
    value = {"name": call.name, "arguments": _everywhere(call.values(), plain)}
    return f"{HERMES.opens[0]}\n{json.dumps(value, ensure_ascii=False)}\n{HERMES.close}"


def _with_tools(messages: Documents, tools: Documents) -> Documents:
    """What a template would say of tools, as a part of the system message."""
    if not tools:
        return messages
    listed = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
    example = f"{HERMES.opens[0]}\n{_EXAMPLE}\n{HERMES.close}"
    told = _EXPLAINED.format(tools=listed, example=example)
    if messages and messages[0]["role"] == "system":
        first = {"role": "system", "content": f"{messages[0]['content']}\n\n{told}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": told}, *messages]
