"""Pieces of an OpenAPI 3.1 document; schemas are JSON Schema 2020-12."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]
JSON = "application/json"
EVENTS = "text/event-stream"
TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer", "minimum": 0}
_FULL = "The server is full (`overloaded`) or stops; `Retry-After` says when to come back."
# What every API refuses a request with; some have more, or say it by other statuses.
ERRORS = {
    "400": "The request is refused; `param` names what is wrong.",
    "404": "Another model than the one that is served, or no cache group of the caller's.",
    "408": "The body did not arrive in time.",
    "413": "The prompt or the body is too large.",
    "429": "All sessions are in use.",
    "503": _FULL,
    "504": "The request took longer than the server allows (`time_limit`).",
}


def optional(kind: str, **limits: Any) -> Schema:
    """A value of ``kind`` that may be null, which counts as not given."""
    return {"type": [kind, "null"], **limits}


def listed(items: Schema, **limits: Any) -> Schema:
    """A list."""
    return {"type": "array", "items": items, **limits}


def record(required: Mapping[str, Schema], more: Mapping[str, Schema] | None = None) -> Schema:
    """An object with these fields; others may be there."""
    properties = {**required, **(more or {})}
    return {"type": "object", "properties": properties, "required": list(required)}


def refer(name: str) -> Schema:
    """A schema of the document by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def got(summary: str, answer: Schema, parameters: list[Schema] | None = None) -> Schema:
    """A GET that is answered by JSON."""
    operation: Schema = {"summary": summary, "responses": {"200": _answer("The answer.", answer)}}
    if parameters:
        operation["parameters"] = parameters
    return {"get": operation}


def posted(
    summary: str,
    body: Schema,
    answer: Schema,
    errors: Mapping[str, str],
    error: Schema,
    *,
    streams: bool = False,
) -> Schema:
    """A POST of JSON; ``errors``: what each status means, told as ``error``."""
    success = _answer("The answer.", answer)
    if streams:
        # Events have no schema in OpenAPI 3.1.
        success["content"][EVENTS] = {}
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, "content": {JSON: {"schema": body}}},
            "responses": {
                "200": success,
                **{status: _answer(meaning, error) for status, meaning in errors.items()},
            },
        }
    }


def _answer(description: str, schema: Schema) -> Schema:
    return {"description": description, "content": {JSON: {"schema": schema}}}
