"""Turns of Anthropic's form as messages of a chat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from split_server.compat.messages.known import BLOCKS, MESSAGE
from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields, as_fields, as_text, check_unread
from split_server.compat.openai.prompts.messages import MAX_MESSAGES
from split_server.compat.openai.tools import MAX_SCHEMA

_MAX_BLOCKS = 256
_MAX_NAME = 256
_ROLES = ("user", "assistant", "system")
_UNREAD = ("thinking", "redacted_thinking")
# Which blocks whose turns may have.
_OF_ROLE = {
    "user": ("text", "tool_result"),
    "assistant": ("text", "tool_use", *_UNREAD),
    "system": ("text",),
}
_ERROR = "Error: "
Message = dict[str, Any]


def parse_turns(fields: Fields) -> list[Message]:
    """The fields ``system`` and ``messages``; consecutive texts of a role are one message.

    Raises InvalidParameter, UnsupportedParameter.
    """
    turns = fields.inners("messages", MAX_MESSAGES)
    if not turns:
        raise InvalidParameter("messages", f"a list of 1..{MAX_MESSAGES} messages")
    messages = [message for turn in turns for message in _turn(turn)]
    if messages and messages[-1]["role"] == "assistant":
        reason = "a reply is written anew, so the last message is of the role user"
        raise UnsupportedParameter(turns[-1].path("role"), reason)
    system = _texts(fields, "system") if "system" in fields else ""
    first = [{"role": "system", "content": system}] if system else []
    return _joined([*first, *messages])


def _turn(fields: Fields) -> list[Message]:
    check_unread(fields, MESSAGE)
    role = fields.choice("role", _ROLES)
    if role is None:
        raise InvalidParameter(fields.path("role"), "one of " + ", ".join(_ROLES))
    content = fields.raw("content")
    if isinstance(content, str):
        return [{"role": role, "content": as_text(content, fields.path("content"))}]
    blocks = _blocks(fields, "content", _OF_ROLE[role])
    return [_assistant(blocks)] if role == "assistant" else list(_spoken(role, blocks))


def _blocks(fields: Fields, name: str, kinds: tuple[str, ...]) -> list[tuple[str, Fields]]:
    """Blocks with their types."""
    path = fields.path(name)
    given = fields.raw(name)
    if not isinstance(given, list) or len(given) > _MAX_BLOCKS:
        raise InvalidParameter(path, f"a string or a list of at most {_MAX_BLOCKS} blocks")
    return [_block(value, f"{path}[{index}]", kinds) for index, value in enumerate(given)]


def _block(value: Any, path: str, kinds: tuple[str, ...]) -> tuple[str, Fields]:
    block = as_fields(value, path)
    kind = block.text("type", _MAX_NAME)
    if kind is None:
        raise InvalidParameter(block.path("type"), "one of " + ", ".join(kinds))
    if kind not in kinds:
        raise UnsupportedParameter(path, f"a block of type {kind!r}; here: {', '.join(kinds)}")
    check_unread(block, BLOCKS[kind])
    return kind, block


def _text(block: Fields) -> str:
    text = block.text("text")
    if text is None:
        raise InvalidParameter(block.path("text"), "a string")
    return text


def _texts(fields: Fields, name: str) -> str:
    """A text, or the texts of blocks, joined by line ends."""
    given = fields.raw(name)
    if isinstance(given, str):
        return as_text(given, fields.path(name))
    return "\n".join(_text(block) for _, block in _blocks(fields, name, ("text",)))


def _assistant(blocks: list[tuple[str, Fields]]) -> Message:
    texts = [_text(block) for kind, block in blocks if kind == "text"]
    calls = [_call(block) for kind, block in blocks if kind == "tool_use"]
    message: Message = {"role": "assistant", "content": "\n".join(texts)}
    return message | ({"tool_calls": calls} if calls else {})


def _call(block: Fields) -> Message:
    name, given = block.text("name", _MAX_NAME), block.document("input", MAX_SCHEMA)
    if name is None:
        raise InvalidParameter(block.path("name"), "a string")
    called = {"name": name, "arguments": json.dumps(given or {}, ensure_ascii=False)}
    return {"id": _id(block, "id"), "type": "function", "function": called}


def _spoken(role: str, blocks: list[tuple[str, Fields]]) -> Iterator[Message]:
    """Results of tools and texts, in order."""
    for kind, block in blocks:
        if kind == "text":
            yield {"role": role, "content": _text(block)}
        else:
            text = _texts(block, "content") if "content" in block else ""
            failed = block.flag("is_error")
            content = _ERROR + text if failed else text
            called = _id(block, "tool_use_id")
            yield {"role": "tool", "tool_call_id": called, "content": content}


def _id(block: Fields, name: str) -> str:
    text = block.text(name, _MAX_NAME)
    if not text:
        raise InvalidParameter(block.path(name), "the id of a call")
    return text


def _joined(messages: list[Message]) -> list[Message]:
    """Templates want turns that alternate."""
    joined: list[Message] = []
    for message in messages:
        last = joined[-1] if joined else {}
        alike = last.get("role") == message["role"] != "tool"
        if alike and not ("tool_calls" in last or "tool_calls" in message):
            joined[-1] = last | {"content": f"{last['content']}\n{message['content']}"}
        else:
            joined.append(message)
    return joined
