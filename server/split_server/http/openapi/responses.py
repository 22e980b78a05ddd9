"""OpenAI's Responses API as an OpenAPI document has it."""

from __future__ import annotations

from split_server.compat.keeping import MAX_SALT
from split_server.compat.openai.options import MAX_TOP_LOGPROBS, RETENTIONS
from split_server.compat.openai.prompts.messages import MAX_MESSAGES
from split_server.compat.openai.sampling import MAX_TEMPERATURE
from split_server.compat.openai.tools import MAX_TOOLS
from split_server.http.openapi.parts import (
    ERRORS,
    JSON,
    TEXT,
    WHOLE,
    Schema,
    got,
    listed,
    optional,
    posted,
    record,
    refer,
)
from split_wire.tiers import CACHES

_ERRORS = ERRORS | {"413": "The prompt, the body or what is to be kept is too large."}
_NAME: Schema = {"type": "string", "minLength": 1, "maxLength": 256}
_PART: Schema = {
    "anyOf": [
        record({"type": {"enum": ["input_text", "output_text", "text"]}, "text": TEXT}),
        record({"type": {"const": "refusal"}, "refusal": TEXT}),
    ]
}
_TEXTS: Schema = {"anyOf": [TEXT, listed(_PART, maxItems=256)]}
_ITEM: Schema = {
    "anyOf": [
        record(
            {"role": {"enum": ["user", "assistant", "system", "developer"]}, "content": _TEXTS},
            {"type": {"enum": ["message", None]}},
        ),
        record(
            {
                "type": {"const": "function_call"},
                "call_id": _NAME,
                "name": _NAME,
                "arguments": TEXT,
            }
        ),
        record({"type": {"const": "function_call_output"}, "call_id": _NAME, "output": _TEXTS}),
    ]
}
_TOOL = record(
    {
        "type": {"const": "function"},
        "name": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"},
    },
    {
        "description": optional("string"),
        "parameters": optional("object"),
        "strict": optional("boolean"),
    },
)
_FORMAT: Schema = {
    "anyOf": [
        {"type": "null"},
        record({"type": {"enum": ["text", "json_object"]}}),
        record({"type": {"const": "json_schema"}, "schema": {"type": "object"}}),
    ]
}
_ASKED: Schema = {
    "model": optional("string"),
    "instructions": optional("string"),
    "max_output_tokens": optional("integer", minimum=1, maximum=1 << 24),
    "metadata": optional(
        "object",
        maxProperties=16,
        propertyNames={"maxLength": 64},
        additionalProperties={"type": "string", "maxLength": 512},
    ),
    "parallel_tool_calls": optional("boolean"),
    "previous_response_id": optional("string", maxLength=128),
    "prompt_cache_retention": {"enum": [*RETENTIONS, None]},
    "store": optional("boolean"),
    "stream": optional("boolean"),
    "temperature": optional("number", minimum=0, maximum=MAX_TEMPERATURE),
    "top_p": optional("number", minimum=0, maximum=1),
    "top_logprobs": optional("integer", minimum=0, maximum=MAX_TOP_LOGPROBS),
    "text": {"anyOf": [{"type": "null"}, record({}, {"format": _FORMAT})]},
    "tools": {"anyOf": [{"type": "null"}, listed(_TOOL, maxItems=MAX_TOOLS)]},
    "tool_choice": {
        "anyOf": [
            {"enum": ["none", "auto", "required", None]},
            record({"type": {"const": "function"}, "name": TEXT}),
        ]
    },
    "cache": {"enum": [*CACHES, None]},
    "cache_salt": optional("string", maxLength=MAX_SALT),
}
_USAGE = record(
    {
        "input_tokens": WHOLE,
        "input_tokens_details": record({"cached_tokens": WHOLE}, {"approximate_tokens": WHOLE}),
        "output_tokens": WHOLE,
        "output_tokens_details": record({"reasoning_tokens": WHOLE}),
        "total_tokens": WHOLE,
    }
)
_OUTPUT: Schema = {
    "anyOf": [
        record({"type": {"const": "message"}, "id": TEXT, "content": listed({"type": "object"})}),
        record(
            {
                "type": {"const": "function_call"},
                "id": TEXT,
                "call_id": TEXT,
                "name": TEXT,
                "arguments": TEXT,
            }
        ),
    ]
}
RESPONSES_SCHEMAS: Schema = {
    "ResponsesRequest": record(
        {
            "input": {
                "anyOf": [
                    {"type": "string"},
                    listed(_ITEM, minItems=1, maxItems=MAX_MESSAGES),
                ]
            }
        },
        _ASKED,
    ),
    "ResponsesAnswer": record(
        {
            "id": TEXT,
            "object": {"const": "response"},
            "created_at": WHOLE,
            "status": {"enum": ["completed", "incomplete"]},
            "model": TEXT,
            "output": listed(_OUTPUT),
            "store": {"type": "boolean"},
            "usage": _USAGE,
        }
    ),
}
_ID: Schema = {"name": "id", "in": "path", "required": True, "schema": TEXT}
_ERROR = refer("OpenAIError")
_LIST_PARAMETERS: list[Schema] = [
    _ID,
    {"name": "order", "in": "query", "schema": {"enum": ["asc", "desc"]}},
    {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 1, "maximum": 100}},
    {"name": "after", "in": "query", "schema": TEXT},
]


def responses_paths() -> Schema:
    """The routes below ``/v1/responses``."""
    request, answer = refer("ResponsesRequest"), refer("ResponsesAnswer")
    counted = record({"object": {"const": "response.input_tokens"}, "input_tokens": WHOLE})
    deleted = record({"id": TEXT, "deleted": {"const": True}})
    items = record({"object": {"const": "list"}, "data": listed({"type": "object"})})
    summary = "The next response of a chat"
    return {
        "/v1/responses": posted(summary, request, answer, _ERRORS, _ERROR, streams=True),
        "/v1/responses/input_tokens": posted(
            "How many tokens an input has", request, counted, _ERRORS, _ERROR
        ),
        "/v1/responses/{id}": _kept(got("A response that is kept", answer, [_ID]))
        | _kept({"delete": got("Keep it no longer", deleted, [_ID])["get"]}),
        "/v1/responses/{id}/input_items": _kept(
            got("The input of a response that is kept", items, _LIST_PARAMETERS)
        ),
    }


def _kept(path: Schema) -> Schema:
    for operation in path.values():
        for status, meaning in (("400", _ERRORS["400"]), ("404", "None is kept of that id.")):
            content = {JSON: {"schema": _ERROR}}
            operation["responses"][status] = {"description": meaning, "content": content}
    return path
