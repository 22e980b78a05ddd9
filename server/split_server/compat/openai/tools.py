"""The tools that a model may call, and the form of a call that it must make."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from split_client.tools.schema import call_schema
from split_server.compat.openai.calling.choice import parse_choice
from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields

MAX_TOOLS = 128
MAX_SCHEMA = 256 * 1024
_MAX_DESCRIPTION = 64 * 1024
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")


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
    given = fields.inners("tools", MAX_TOOLS) or []
    documents = {document["function"]["name"]: document for document in map(_tool, given)}
    if len(documents) < len(given):
        raise InvalidParameter("tools", "tools of different names")
    choice = parse_choice(fields, documents)
    parallel = fields.flag("parallel_tool_calls", True)
    if not choice.allowed:
        return None
    # Of what it may not call the model never hears.
    allowed = tuple(documents[name] for name in choice.allowed) if not choice.forced else None
    forced = choice.allowed if choice.forced else ()
    return Tools(allowed or tuple(documents.values()), forced, parallel)


def _tool(fields: Fields) -> dict[str, Any]:
    if fields.raw("type") != "function":
        raise UnsupportedParameter(fields.path("type"), "tools are of type function")
    function = fields.inner("function")
    if function is None:
        # As the Responses API and clients of older ones write it.
        function = fields
    name = function.text("name")
    if name is None or not _NAME.fullmatch(name):
        raise InvalidParameter(function.path("name"), "1..64 letters, digits, _, - and .")
    document: dict[str, Any] = {"name": name}
    description = function.text("description", _MAX_DESCRIPTION)
    if description is not None:
        document["description"] = description
    parameters = function.document("parameters", MAX_SCHEMA)
    if parameters is not None:
        _check_object(parameters, function.path("parameters"))
        document["parameters"] = parameters
    return {"type": "function", "function": document}


def _check_object(parameters: dict[str, Any], path: str) -> None:
    """Arguments have names; a schema that says nothing of its type is taken for an object's."""
    kind = parameters.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise InvalidParameter(path, "the schema of an object")
