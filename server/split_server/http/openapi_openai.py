"""OpenAI's API as an OpenAPI document has it."""

from __future__ import annotations

from split_client.generation.sampling_params import MAX_BIASED_TOKENS
from split_server.compat.openai.completion_request import MAX_PROMPTS
from split_server.compat.openai.messages import MAX_MESSAGES
from split_server.compat.openai.options import (
    MAX_CHOICES,
    MAX_STOP,
    MAX_STOPS,
    MAX_TOP_LOGPROBS,
)
from split_server.compat.openai.tools import MAX_TOOLS
from split_server.http.openapi_parts import Schema, got, listed, optional, posted, record, refer

_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer", "minimum": 0}
_IDS: Schema = listed(refer("TokenId"), minItems=1)
_ERRORS = {
    "400": "The request is refused; `param` names what is wrong.",
    "404": "Another model than the one that is served.",
    "408": "The body did not arrive in time.",
    "413": "The prompt or the body is too large.",
    "429": "All sessions are in use.",
    "503": "The server is full (`overloaded`) or stops; `Retry-After` says when to come back.",
}
_SAMPLING: Schema = {
    "model": optional("string"),
    "stream": optional("boolean"),
    "stream_options": optional("object", properties={"include_usage": optional("boolean")}),
    "n": optional("integer", minimum=1, maximum=MAX_CHOICES),
    "max_tokens": optional("integer", minimum=1, maximum=1 << 24),
    "max_completion_tokens": optional("integer", minimum=1, maximum=1 << 24),
    "seed": optional("integer"),
    "temperature": optional("number", minimum=0, maximum=100),
    "top_p": optional("number", minimum=0, maximum=1),
    "top_k": optional("integer", minimum=-1, maximum=2**31 - 1),
    "min_p": optional("number", minimum=0, maximum=1),
    "repetition_penalty": optional("number", minimum=0.01, maximum=100),
    "presence_penalty": optional("number", minimum=-2, maximum=2),
    "frequency_penalty": optional("number", minimum=-2, maximum=2),
    "logit_bias": optional(
        "object",
        additionalProperties={"type": "number", "minimum": -100, "maximum": 100},
        propertyNames={"pattern": "^(0|[1-9][0-9]{0,6})$"},
        maxProperties=MAX_BIASED_TOKENS,
    ),
    "stop": {
        "anyOf": [
            optional("string", maxLength=MAX_STOP),
            listed({"type": "string", "maxLength": MAX_STOP}, maxItems=MAX_STOPS),
        ]
    },
    "response_format": {
        "anyOf": [
            {"type": "null"},
            record({"type": {"enum": ["text", "json_object"]}}),
            record(
                {
                    "type": {"const": "json_schema"},
                    "json_schema": record({"schema": {"type": "object"}}, {"name": _TEXT}),
                }
            ),
        ]
    },
}
_CONTENT: Schema = {
    "anyOf": [_TEXT, listed(record({"type": {"const": "text"}, "text": _TEXT}), maxItems=256)]
}
_CALL = record(
    {
        "id": _TEXT,
        "type": {"const": "function"},
        "function": record({"name": _TEXT, "arguments": _TEXT}),
    }
)
_MESSAGE: Schema = {
    "anyOf": [
        record(
            {"role": {"enum": ["system", "developer", "user", "assistant"]}, "content": _CONTENT}
        ),
        record({"role": {"const": "assistant"}, "tool_calls": listed(_CALL, minItems=1)}),
        record({"role": {"const": "tool"}, "tool_call_id": _TEXT, "content": _CONTENT}),
    ]
}
_TOOL = record(
    {
        "type": {"const": "function"},
        "function": record(
            {"name": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"}},
            {"description": _TEXT, "parameters": {"type": "object"}},
        ),
    }
)
_CHAT_ONLY: Schema = {
    "logprobs": optional("boolean"),
    "top_logprobs": optional("integer", minimum=0, maximum=MAX_TOP_LOGPROBS),
    "tools": {"anyOf": [{"type": "null"}, listed(_TOOL, maxItems=MAX_TOOLS)]},
    "tool_choice": {
        "anyOf": [
            {"enum": ["none", "auto", "required", None]},
            record({"type": {"const": "function"}, "function": record({"name": _TEXT})}),
        ]
    },
    "parallel_tool_calls": optional("boolean"),
}
_PROMPT: Schema = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        _IDS,
        listed({"type": "string", "minLength": 1}, minItems=1, maxItems=MAX_PROMPTS),
        listed(_IDS, minItems=1, maxItems=MAX_PROMPTS),
    ]
}
_TEXT_ONLY: Schema = {
    "logprobs": optional("integer", minimum=0, maximum=MAX_TOP_LOGPROBS),
    "echo": optional("boolean"),
}
_USAGE = record(
    {
        "prompt_tokens": _WHOLE,
        "completion_tokens": _WHOLE,
        "total_tokens": _WHOLE,
        "prompt_tokens_details": record({"cached_tokens": _WHOLE}),
    }
)
_SCORED = record(
    {"token": _TEXT, "logprob": {"type": "number"}, "bytes": {"type": ["array", "null"]}}
)
_SCORED_TOP: Schema = {"allOf": [_SCORED, record({"top_logprobs": listed(_SCORED)})]}
_REASON: Schema = {"enum": ["stop", "length", "tool_calls"]}
_CHAT_CHOICE = record(
    {
        "index": _WHOLE,
        "message": record(
            {"role": {"const": "assistant"}, "content": optional("string")},
            {"tool_calls": listed(_CALL)},
        ),
        "logprobs": {"anyOf": [{"type": "null"}, record({"content": listed(_SCORED_TOP)})]},
        "finish_reason": _REASON,
    }
)
_TEXT_SCORES = record(
    {
        "tokens": listed(_TEXT),
        "token_logprobs": listed({"type": "number"}),
        "top_logprobs": listed({"type": "object", "additionalProperties": {"type": "number"}}),
        "text_offset": listed(_WHOLE),
    }
)
_TEXT_CHOICE = record(
    {
        "index": _WHOLE,
        "text": _TEXT,
        "logprobs": {"anyOf": [{"type": "null"}, _TEXT_SCORES]},
        "finish_reason": _REASON,
    }
)


def _completion(kind: str, choice: Schema) -> Schema:
    head: Schema = {
        "id": _TEXT,
        "object": {"const": kind},
        "created": _WHOLE,
        "model": _TEXT,
        "system_fingerprint": _TEXT,
    }
    return record(head | {"choices": listed(choice), "usage": _USAGE})


_MODEL = record(
    {
        "id": _TEXT,
        "object": {"const": "model"},
        "created": _WHOLE,
        "owned_by": _TEXT,
        "context_length": _WHOLE,
    }
)
OPENAI_SCHEMAS: Schema = {
    "OpenAIError": record(
        {
            "error": record(
                {
                    "message": _TEXT,
                    "type": {"enum": ["invalid_request_error", "server_error"]},
                    "param": optional("string"),
                    "code": _TEXT,
                },
                {
                    name: optional("integer", minimum=0)
                    for name in (
                        "prompt_tokens",
                        "suggested_tokens",
                        "predicted_bytes",
                        "free_bytes",
                    )
                },
            )
        }
    ),
    "Model": _MODEL,
    "Message": _MESSAGE,
    "ChatRequest": record(
        {"messages": listed(refer("Message"), minItems=1, maxItems=MAX_MESSAGES)},
        _SAMPLING | _CHAT_ONLY,
    ),
    "CompletionRequest": record({"prompt": _PROMPT}, _SAMPLING | _TEXT_ONLY),
    "WarmRequest": {
        "anyOf": [
            record({"messages": listed(refer("Message"), minItems=1)}),
            record({"prompt": {"anyOf": [{"type": "string", "minLength": 1}, _IDS]}}),
        ]
    },
    "ChatAnswer": _completion("chat.completion", _CHAT_CHOICE),
    "CompletionAnswer": _completion("text_completion", _TEXT_CHOICE),
}
_MODEL_ID: Schema = {"name": "id", "in": "path", "required": True, "schema": _TEXT}
_ERROR = refer("OpenAIError")


def _counts(*names: str) -> Schema:
    return record(dict.fromkeys(names, _WHOLE))


def openai_paths() -> Schema:
    """All routes below ``/v1``."""
    model = got("The model that is served", refer("Model"), [_MODEL_ID])
    model["get"]["responses"]["404"] = {
        "description": _ERRORS["404"],
        "content": {"application/json": {"schema": _ERROR}},
    }
    listing = record({"object": {"const": "list"}, "data": listed(refer("Model"))})
    stats = record(
        {
            "model": _TEXT,
            "generations": _counts("running", "waiting", "ended"),
            "tokens": _counts("prompt", "cached", "completion"),
            "sessions": _counts("idle"),
        }
    )
    warmed = record({"object": {"const": "warm"}, "model": _TEXT})
    warmed["allOf"] = [_counts("cached_tokens", "computed_tokens")]
    return {
        "/v1/models": got("The models that are served: one", listing),
        "/v1/models/{id}": model,
        "/v1/chat/completions": posted(
            "The next message of a chat",
            refer("ChatRequest"),
            refer("ChatAnswer"),
            _ERRORS,
            _ERROR,
            streams=True,
        ),
        "/v1/completions": posted(
            "How a text goes on",
            refer("CompletionRequest"),
            refer("CompletionAnswer"),
            _ERRORS,
            _ERROR,
            streams=True,
        ),
        "/v1/stats": got("What runs, and what was generated", stats),
        "/v1/warm": posted("Compute a prompt ahead", refer("WarmRequest"), warmed, _ERRORS, _ERROR),
    }
