"""Anthropic's Messages API as an OpenAPI document has it."""

from __future__ import annotations

from split_server.compat.keeping import MAX_SALT
from split_server.compat.openai.options import MAX_STOP, MAX_STOPS
from split_server.compat.openai.prompts.messages import MAX_MESSAGES
from split_server.compat.openai.sampling import MAX_TEMPERATURE
from split_server.compat.openai.tools import MAX_TOOLS
from split_server.http.openapi.parts import (
    ERRORS,
    TEXT,
    WHOLE,
    Schema,
    listed,
    optional,
    posted,
    record,
    refer,
)
from split_wire.tiers import CACHES

_ERRORS = {("529" if status == "503" else status): text for status, text in ERRORS.items()}
_TEXT_BLOCK = record({"type": {"const": "text"}, "text": TEXT})
_TEXTS: Schema = {"anyOf": [TEXT, listed(_TEXT_BLOCK, maxItems=256)]}
_ID: Schema = {"type": "string", "minLength": 1, "maxLength": 256}
_USE = record(
    {
        "type": {"const": "tool_use"},
        "id": _ID,
        "name": {"type": "string", "maxLength": 256},
        "input": {"type": "object"},
    }
)
_RESULT = record(
    {"type": {"const": "tool_result"}, "tool_use_id": _ID},
    {"content": _TEXTS, "is_error": optional("boolean")},
)
_TURN: Schema = {
    "anyOf": [
        record(
            {
                "role": {"const": "user"},
                "content": {
                    "anyOf": [TEXT, listed({"anyOf": [_TEXT_BLOCK, _RESULT]}, maxItems=256)]
                },
            }
        ),
        record(
            {
                "role": {"const": "assistant"},
                "content": {"anyOf": [TEXT, listed({"anyOf": [_TEXT_BLOCK, _USE]}, maxItems=256)]},
            }
        ),
    ]
}
_TOOL = record(
    {
        "name": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"},
        "input_schema": {"type": "object"},
    },
    {"description": TEXT},
)
_SHARED: Schema = {
    "model": optional("string"),
    "system": {"anyOf": [{"type": "null"}, _TEXTS]},
    "tools": {"anyOf": [{"type": "null"}, listed(_TOOL, maxItems=MAX_TOOLS)]},
    "tool_choice": {
        "anyOf": [
            {"type": "null"},
            record(
                {"type": {"enum": ["auto", "any", "none"]}},
                {"disable_parallel_tool_use": optional("boolean")},
            ),
            record({"type": {"const": "tool"}, "name": TEXT}),
        ]
    },
    "thinking": {"anyOf": [{"type": "null"}, record({"type": {"enum": ["disabled", "adaptive"]}})]},
}
_MORE: Schema = {
    "stream": optional("boolean"),
    "temperature": optional("number", minimum=0, maximum=MAX_TEMPERATURE),
    "top_k": optional("integer", minimum=-1, maximum=2**31 - 1),
    "top_p": optional("number", minimum=0, maximum=1),
    "stop_sequences": {
        "anyOf": [
            {"type": "null"},
            listed({"type": "string", "maxLength": MAX_STOP}, maxItems=MAX_STOPS),
        ]
    },
    "cache": {"enum": [*CACHES, None]},
    "cache_salt": optional("string", maxLength=MAX_SALT),
}
_TURNS: Schema = {"messages": listed(_TURN, minItems=1, maxItems=MAX_MESSAGES)}
_USAGE = record(
    {
        "input_tokens": WHOLE,
        "cache_creation_input_tokens": WHOLE,
        "cache_read_input_tokens": WHOLE,
        "output_tokens": WHOLE,
    },
    {"approximate_tokens": WHOLE},
)
_REASONS = ["end_turn", "max_tokens", "stop_sequence", "tool_use", "model_context_window_exceeded"]
MESSAGES_SCHEMAS: Schema = {
    "MessagesRequest": record(
        _TURNS | {"max_tokens": {"type": "integer", "minimum": 1, "maximum": 1 << 24}},
        _SHARED | _MORE,
    ),
    "MessagesCountRequest": record(_TURNS, _SHARED),
    "MessagesAnswer": record(
        {
            "id": TEXT,
            "type": {"const": "message"},
            "role": {"const": "assistant"},
            "model": TEXT,
            "content": listed({"anyOf": [_TEXT_BLOCK, _USE]}),
            "stop_reason": {"enum": _REASONS},
            "stop_sequence": optional("string"),
            "usage": _USAGE,
        }
    ),
    "MessagesError": record(
        {
            "type": {"const": "error"},
            "error": record({"type": TEXT, "message": TEXT, "code": TEXT}),
        }
    ),
}


def messages_paths() -> Schema:
    """The routes below ``/v1/messages``."""
    error = refer("MessagesError")
    return {
        "/v1/messages": posted(
            "The next message of a chat, in Anthropic's form",
            refer("MessagesRequest"),
            refer("MessagesAnswer"),
            _ERRORS,
            error,
            streams=True,
        ),
        "/v1/messages/count_tokens": posted(
            "How many tokens a chat has",
            refer("MessagesCountRequest"),
            record({"input_tokens": WHOLE}),
            _ERRORS,
            error,
        ),
    }
