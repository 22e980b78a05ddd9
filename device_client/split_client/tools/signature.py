"""A function's name, annotations and docstring as a tool's name, schema and description."""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, Union, get_args, get_origin

from split_client.tools.errors import ToolsInvalid

_PLAIN: Final[dict[object, dict[str, Any]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    list: {"type": "array"},
    dict: {"type": "object"},
    Any: {},
    object: {},
}
# "name: what" as in Google's style, with or without a type, or ":param name: what".
_ARGUMENT: Final = re.compile(r"^\s*(?::param\s+)?(?:\w+\s+)?(\w+)(?:\s*\([^)]*\))?:\s+(\S.*)$")
_HEADING: Final = re.compile(r"^\s*(Args|Arguments|Parameters|Returns|Raises|Yields):\s*$")


@dataclass(frozen=True, slots=True)
class Described:
    """``parameters``: a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


def described(function: Callable[..., object]) -> Described:
    """What is known of ``function``. Raises ToolsInvalid."""
    name = getattr(function, "__name__", type(function).__name__)
    try:
        signature, hints = inspect.signature(function), typing.get_type_hints(function)
    except (TypeError, ValueError, NameError) as error:
        raise ToolsInvalid(name, f"its signature cannot be read ({error})") from error
    if inspect.iscoroutinefunction(function):
        raise ToolsInvalid(name, "it is async; give a function that awaits it on a loop of its own")
    text, said = _docstring(inspect.getdoc(function) or "", frozenset(signature.parameters))
    properties: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ToolsInvalid(name, f"{parameter.name}: a tool's parameters have names")
        if parameter.name not in hints:
            raise ToolsInvalid(name, f"{parameter.name} has no annotation, such as str or int")
        schema = _schema(hints[parameter.name], f"{name}: {parameter.name}")
        if parameter.name in said:
            schema = schema | {"description": said[parameter.name]}
        properties[parameter.name] = schema
    needed = [p.name for p in signature.parameters.values() if p.default is p.empty]
    rules = {"type": "object", "properties": properties, "required": needed}
    return Described(name, text, rules | {"additionalProperties": False})


def _schema(hint: Any, where: str) -> dict[str, Any]:
    if isinstance(hint, typing.Hashable) and hint in _PLAIN:
        return dict(_PLAIN[hint])
    origin, inner = get_origin(hint), get_args(hint)
    if origin is typing.Annotated:
        return _schema(inner[0], where)
    if origin is Literal and all(isinstance(value, str | int | bool) for value in inner):
        return {"enum": list(inner)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(one, where) for one in inner]}
    if origin is list:
        return {"type": "array", "items": _schema(inner[0], where)}
    if origin is dict and inner[0] is str:
        return {"type": "object", "additionalProperties": _schema(inner[1], where)}
    made = getattr(hint, "model_json_schema", None)
    if callable(made):
        raise ToolsInvalid(where, "a class is no plain type; give its fields as parameters")
    reason = "its type is none of str, int, float, bool, list, dict, Literal and unions of them"
    raise ToolsInvalid(where, reason)


def _docstring(text: str, names: frozenset[str]) -> tuple[str, dict[str, str]]:
    """What a function does, and what is said about parameters of these names."""
    said: dict[str, str] = {}
    kept: list[str] = []
    within = False
    for line in text.splitlines():
        within = within or _HEADING.match(line) is not None or line.lstrip().startswith(":param")
        found = _ARGUMENT.match(line) if within else None
        if found is not None and found[1] in names:
            said[found[1]] = found[2].strip()
        elif not within:
            kept.append(line)
    return "\n".join(kept).strip(), said
