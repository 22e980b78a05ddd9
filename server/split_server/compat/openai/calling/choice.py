"""The field ``tool_choice``, in the spellings of several clients."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields

# What Anthropic and Mistral call it.
_FORCING = ("required", "any")
_MODES = ("none", "auto", *_FORCING)
_NAMED = ("function", "tool")
_MOST = 128
_ALLOWED = "allowed_tools"


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """``allowed``: the names that may be called, in the order of the tools; ``forced``: whether
    one of them must be.
    """

    allowed: tuple[str, ...]
    forced: bool = False


def parse_choice(fields: Fields, names: Collection[str]) -> ToolChoice:
    """Where there are no tools there is no choice. Raises InvalidParameter, UnsupportedParameter.

    A mode (``none``, ``auto``, ``required`` or ``any``, also as the ``type`` of an object), the
    name of a tool, alone or in an object with or without ``function``, or ``allowed_tools``.
    """
    choice = fields.raw("tool_choice")
    if choice is None or not names:
        return ToolChoice(tuple(names))
    if isinstance(choice, str):
        return _of_text(choice, names)
    chosen = fields.inner("tool_choice")
    kind = None if chosen is None else chosen.raw("type")
    if chosen is None or kind == _ALLOWED:
        return _allowed(fields if chosen is None else chosen, names)
    if kind in _MODES:
        return _of_mode(kind, names)
    if kind is not None and kind not in _NAMED:
        raise UnsupportedParameter("tool_choice", "it names a tool of type function")
    return ToolChoice((_name(chosen, names, "tool_choice.function.name"),), forced=True)


def _of_text(choice: str, names: Collection[str]) -> ToolChoice:
    if choice in _MODES:
        return _of_mode(choice, names)
    if choice in names:
        return ToolChoice((choice,), forced=True)
    wanted = "one of " + ", ".join(_MODES) + ", or the name of one of the tools"
    raise InvalidParameter("tool_choice", wanted)


def _of_mode(mode: str, names: Collection[str]) -> ToolChoice:
    return ToolChoice(() if mode == "none" else tuple(names), mode in _FORCING)


def _allowed(chosen: Fields, names: Collection[str]) -> ToolChoice:
    inner = chosen.inner(_ALLOWED) or chosen
    mode = inner.choice("mode", _MODES) or "auto"
    given = inner.inners("tools", _MOST)
    if not given:
        raise InvalidParameter(inner.path("tools"), "a list of one or more of the tools")
    allowed = {_name(tool, names, tool.path("function.name")) for tool in given}
    return _of_mode(mode, tuple(name for name in names if name in allowed))


def _name(fields: Fields, names: Collection[str], path: str) -> str:
    function = fields.inner("function")
    name = (fields if function is None else function).text("name")
    if name is None or name not in names:
        raise InvalidParameter(path, "the name of one of the tools")
    return name
