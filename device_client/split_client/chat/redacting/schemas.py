"""Forms and tools without values in their texts; names of fields and functions stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from split_client.grammar.form import Choice, Form, Gbnf, JsonSchema, Lark, Regex
from split_client.tools.tool import Tool

Redact: TypeAlias = Callable[[str], str]
# Keywords of JSON Schema whose texts are told to a model, or may be written by it.
_TEXTS: Final = frozenset(
    ("title", "description", "default", "const", "enum", "examples", "pattern", "$comment")
)
_BY_NAME: Final = frozenset(("properties", "patternProperties", "$defs", "definitions"))


def redacted_form(form: Form, redact: Redact) -> Form:
    """What a reply is to be, in the words that the model knows."""
    match form:
        case JsonSchema():
            return JsonSchema.of(redacted_schema(form.schema, redact))
        case Choice(texts):
            return Choice(tuple(map(redact, texts)))
        case Regex(pattern):
            return Regex(redact(pattern))
        case Lark(text):
            return Lark(redact(text))
        case Gbnf(text):
            return Gbnf(redact(text))
        case _:
            return form


def redacted_tool(tool: Tool, redact: Redact) -> Tool:
    """The same tool, as the model is told of it."""
    parameters = redacted_schema(tool.parameters, redact)
    return replace(tool, description=redact(tool.description), parameters=parameters)


def redacted_document(document: Mapping[str, Any], redact: Redact) -> dict[str, Any]:
    """A tool in the form of OpenAI's API."""
    function = dict(document["function"])
    if isinstance(function.get("description"), str):
        function["description"] = redact(function["description"])
    if "parameters" in function:
        function["parameters"] = redacted_schema(function["parameters"], redact)
    return {**document, "function": function}


def redacted_schema(schema: Any, redact: Redact) -> Any:
    """A JSON schema whose texts are redacted."""
    if isinstance(schema, list):
        return [redacted_schema(each, redact) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    made: dict[str, Any] = {}
    for name, value in schema.items():
        if name in _BY_NAME and isinstance(value, Mapping):
            made[name] = {inner: redacted_schema(each, redact) for inner, each in value.items()}
        else:
            made[name] = _texts(value, redact) if name in _TEXTS else redacted_schema(value, redact)
    return made


def every_text(value: Any, change: Redact) -> Any:
    """A JSON value with its texts changed; names of members stay."""
    return _texts(value, change)


def _texts(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {name: _texts(inner, redact) for name, inner in value.items()}
    return [_texts(inner, redact) for inner in value] if isinstance(value, list) else value
