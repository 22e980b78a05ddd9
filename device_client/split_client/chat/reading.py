"""Messages as files and programs give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from split_client.chat.brightness.errors import BrightnessInvalid
from split_client.chat.brightness.runs import values_in
from split_client.chat.message import ROLES, Message, Range
from split_client.tools.call import ToolCall, call_in

MAX_CALLS: Final = 128
_MAX_ID: Final = 256
MAX_DROPPED: Final = 10_000


def message_in(given: Mapping[str, Any]) -> Message | str:
    """The message that ``given`` is, or what is wrong with it."""
    match given:
        case {"role": str(role), "content": str(content)} if role in ROLES:
            pass
        case {"role": str(role), "content": None, "tool_calls": list()} if role == "assistant":
            content = ""
        case {"role": str(role), "content": str()}:
            return f"the role {role[:40]!r} is none of {', '.join(ROLES)}"
        case _:
            return "it is not a map with the texts 'role' and 'content'"
    dropped = _dropped(given.get("dropped"), len(content))
    if dropped is None:
        return "its 'dropped' are no ranges of its text, in order and apart"
    message: Message | str = "its 'tool_calls' are none"
    if role == "tool":
        message = _result(given, content)
    elif (calls := _calls(given.get("tool_calls")) if role == "assistant" else ()) is not None:
        message = Message(role, content, calls)
    brightness = given.get("brightness") or ""
    if isinstance(message, str) or (bad := _bad_brightness(brightness, len(content))):
        return message if isinstance(message, str) else bad
    pinned = given.get("pinned") is True
    return replace(message, dropped=dropped, pinned=pinned, brightness=brightness)


def _result(given: Mapping[str, Any], content: str) -> Message | str:
    call, name = given.get("tool_call_id"), given.get("name")
    if not isinstance(call, str) or len(call) > _MAX_ID:
        return "a result has the text 'tool_call_id'"
    return Message("tool", content, (), call, name if isinstance(name, str) else None)


def _dropped(given: object, length: int) -> tuple[Range, ...] | None:
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > MAX_DROPPED:
        return None
    found, before = list[Range](), -1
    for each in given:
        match each:
            case [int(start), int(stop)] if type(start) is int and type(stop) is int:
                if not before < start < stop <= length:
                    return None
                found.append((start, stop))
                before = stop
            case _:
                return None
    return tuple(found)


def _bad_brightness(given: object, length: int) -> str:
    """What is wrong with it; "" where nothing is."""
    if not isinstance(given, str):
        return "its 'brightness' is no text"
    try:
        values_in(given, length)
    except BrightnessInvalid as error:
        return f"its {error}"
    return ""


def _calls(given: object) -> tuple[ToolCall, ...] | None:
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > MAX_CALLS:
        return None
    calls = [call_in(each) for each in given]
    return None if None in calls else tuple(call for call in calls if call is not None)
