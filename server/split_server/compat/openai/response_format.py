"""``response_format``: which form the reply must have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields
from split_server.compat.openai.tools import MAX_SCHEMA

_KINDS = ("text", "json_object", "json_schema")


@dataclass(frozen=True, slots=True)
class JsonForm:
    """A reply that is JSON; ``schema`` None: any object. ``param``: where it was asked for."""

    schema: dict[str, Any] | None
    param: str = "response_format"


def parse_response_format(fields: Fields) -> JsonForm | None:
    """None for text. Raises InvalidParameter."""
    form = fields.inner("response_format")
    if form is None:
        return None
    kind = form.choice("type", _KINDS)
    if kind is None:
        raise InvalidParameter("response_format.type", "one of " + ", ".join(_KINDS))
    if kind == "text":
        return None
    if kind == "json_object":
        return JsonForm(None)
    inner = form.inner("json_schema")
    schema = None if inner is None else inner.document("schema", MAX_SCHEMA)
    if schema is None:
        raise InvalidParameter("response_format.json_schema.schema", "a JSON schema")
    return JsonForm(schema, "response_format.json_schema.schema")
