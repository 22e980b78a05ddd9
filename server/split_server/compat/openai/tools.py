"""The tools that a model may call, and the form of a call that it must make."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from split_client.tools.schema import call_schema
from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields

MAX_TOOLS = 128
MAX_SCHEMA = 256 * 1024
_MAX_DESCRIPTION = 64 * 1024
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_CHOICES = ("none", "auto", "required")


@dataclass(frozen=True, slots=True)
class Tools:
    """``documents``: as a chat template takes them. ``forced``: one of these must be called; empty
    where the model is free to answer. ``parallel``: whether several calls may come at once.
    """

    documents: tuple[dict[str, Any], ...]
    forced: tuple[str, ...]
    parallel: bool

    @property
    def names(self) -> frozenset[str]:
        """The names that may be called."""
        return frozenset(document["function"]["name"] for document in self.documents)

    def call_schema(self) -> dict[str, Any]:
        """The JSON schema of a call of one of the forced tools."""
        schemas = {
            document["function"]["name"]: document["function"].get("parameters")
            for document in self.documents
        }
        return call_schema({name: schemas[name] for name in self.forced})


def parse_tools(fields: Fields) -> Tools | None:
    """The fields ``tools``, ``tool_choice`` and ``parallel_tool_calls``; None without tools, and
    where none may be called.

    Raises InvalidParameter, UnsupportedParameter.
    """
    for old in ("functions", "function_call"):
        if old in fields:
            raise UnsupportedParameter(old, "use tools and tool_choice")
    given = fields.inners("tools", MAX_TOOLS) or []
    documents = tuple(_tool(tool) for tool in given)
    names = [document["function"]["name"] for document in documents]
    if len(set(names)) < len(names):
        raise InvalidParameter("tools", "tools of different names")
    forced = _forced(fields, names)
    parallel = fields.flag("parallel_tool_calls", True)
    if not documents or fields.raw("tool_choice") == "none":
        return None
    return Tools(documents, forced, parallel)


def _tool(fields: Fields) -> dict[str, Any]:
    if fields.raw("type") != "function":
        raise UnsupportedParameter(fields.path("type"), "tools are of type function")
    function = fields.inner("function")
    if function is None:
        raise InvalidParameter(fields.path("function"), "an object")
    name = function.text("name")
    if name is None or not _NAME.fullmatch(name):
        raise InvalidParameter(function.path("name"), "1..64 letters, digits, _, - and .")
    document: dict[str, Any] = {"name": name}
    description = function.text("description", _MAX_DESCRIPTION)
    if description is not None:
        document["description"] = description
    parameters = function.document("parameters", MAX_SCHEMA)
    if parameters is not None:
        document["parameters"] = parameters
    return {"type": "function", "function": document}


def _forced(fields: Fields, names: list[str]) -> tuple[str, ...]:
    choice = fields.raw("tool_choice")
    if choice is None or isinstance(choice, str):
        if choice is not None and choice not in _CHOICES:
            raise InvalidParameter("tool_choice", "one of " + ", ".join(_CHOICES))
        if choice == "required" and not names:
            raise InvalidParameter("tool_choice", "none or auto where there are no tools")
        return tuple(names) if choice == "required" else ()
    chosen = fields.inner("tool_choice")
    if chosen is not None and chosen.raw("type") != "function":
        raise UnsupportedParameter("tool_choice", "it names a tool of type function")
    function = None if chosen is None else chosen.inner("function")
    name = None if function is None else function.text("name")
    if name not in names:
        raise InvalidParameter("tool_choice.function.name", "the name of one of the tools")
    return (name,)
