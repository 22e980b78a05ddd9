"""A file of tools in the form of OpenAI's API: a list, or an object with the key ``tools``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from split_client.owner_file import reason
from split_client.tools.errors import ToolsInvalid
from split_client.tools.tool import MAX_TOOLS, Tool, checked_tools
from split_files import DocumentInvalid, parse_document, read_regular

MAX_BYTES: Final = 4 << 20


def load_tools(path: Path) -> tuple[Tool, ...]:
    """The tools in the file, which nothing runs. Raises ToolsInvalid."""
    where = str(path)
    try:
        document = parse_document(read_regular(path, MAX_BYTES))
    except OSError as error:
        raise ToolsInvalid(where, reason(error)) from error
    except DocumentInvalid as error:
        raise ToolsInvalid(where, str(error)) from error
    return tools_in(document, where)


def tools_in(document: Any, where: str) -> tuple[Tool, ...]:
    """The tools of a document. Raises ToolsInvalid."""
    given = document.get("tools") if isinstance(document, dict) else document
    if not isinstance(given, list) or not given:
        raise ToolsInvalid(where, "it is no list of tools, nor an object with one as 'tools'")
    if len(given) > MAX_TOOLS:
        raise ToolsInvalid(where, f"it has {len(given)} tools, more than {MAX_TOOLS}")
    return checked_tools([_tool(each, f"{where}: tool {at}") for at, each in enumerate(given)])


def _tool(given: Any, where: str) -> Tool:
    # A bare function is what some programs write in place of the tool around it.
    function = given.get("function", given) if isinstance(given, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise ToolsInvalid(where, "it has no 'function' with a 'name'")
    if given.get("type", "function") != "function":
        raise ToolsInvalid(where, "its type is not 'function'")
    description = function.get("description") or ""
    parameters = function.get("parameters")
    if not isinstance(description, str):
        raise ToolsInvalid(where, "its description is not a text")
    rules = {"type": "object", "properties": {}} if parameters is None else parameters
    return Tool(function["name"], description, rules)
