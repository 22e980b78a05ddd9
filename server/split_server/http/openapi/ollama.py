"""Ollama's API as an OpenAPI document has it."""

from __future__ import annotations

from split_server.compat.keeping import MAX_SALT
from split_server.compat.openai.options import MAX_STOP, MAX_STOPS, MAX_TOP_LOGPROBS
from split_server.compat.openai.prompts.messages import MAX_MESSAGES
from split_server.compat.openai.sampling import MAX_TEMPERATURE
from split_server.compat.openai.tools import MAX_TOOLS
from split_server.http.openapi.openai_requests import CHAT_TOOL
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

_LINES = "application/x-ndjson"
_OPTIONS: Schema = optional(
    "object",
    additionalProperties=False,
    properties={
        "temperature": optional("number", minimum=0, maximum=MAX_TEMPERATURE),
        "top_k": optional("integer", minimum=-1, maximum=2**31 - 1),
        "top_p": optional("number", minimum=0, maximum=1),
        "min_p": optional("number", minimum=0, maximum=1),
        "seed": optional("integer", minimum=-(2**63), maximum=2**64 - 1),
        "num_predict": {
            "anyOf": [
                {"enum": [-2, -1, None]},
                {"type": "integer", "minimum": 1, "maximum": 1 << 24},
            ]
        },
        "repeat_penalty": optional("number", minimum=0.01, maximum=100),
        "presence_penalty": optional("number", minimum=-2, maximum=2),
        "frequency_penalty": optional("number", minimum=-2, maximum=2),
        "stop": {
            "anyOf": [
                optional("string", maxLength=MAX_STOP),
                listed({"type": "string", "maxLength": MAX_STOP}, maxItems=MAX_STOPS),
            ]
        },
        "num_ctx": optional("integer"),
    },
)
_NAME: Schema = {"model": {"type": "string", "minLength": 1}}
_SHARED: Schema = {
    "stream": optional("boolean", default=True),
    "options": _OPTIONS,
    "format": {"anyOf": [{"enum": ["", "json", None]}, {"type": "object"}]},
    "keep_alive": {
        "anyOf": [
            optional("number"),
            {"type": "string", "pattern": "^-?[0-9]{1,9}(ns|us|ms|s|m|h)$"},
        ]
    },
    "think": {"enum": [False, None]},
    "logprobs": optional("boolean"),
    "top_logprobs": optional("integer", minimum=0, maximum=MAX_TOP_LOGPROBS),
    "cache": {"enum": [*CACHES, None]},
    "cache_salt": optional("string", maxLength=MAX_SALT),
}
_CALL = record(
    {
        "function": record(
            {"name": {"type": "string", "maxLength": 256}, "arguments": {"type": "object"}}
        )
    }
)
_MESSAGE = record(
    {"role": {"enum": ["system", "user", "assistant", "tool"]}},
    {
        "content": optional("string"),
        "tool_calls": {"anyOf": [{"type": "null"}, listed(_CALL, maxItems=128)]},
        "tool_name": optional("string", maxLength=256),
    },
)
_DETAILS = record(
    {
        "format": TEXT,
        "family": TEXT,
        "families": listed(TEXT),
        "parameter_size": TEXT,
        "quantization_level": TEXT,
    }
)
_MODEL: Schema = {
    "name": TEXT,
    "model": TEXT,
    "size": WHOLE,
    "digest": TEXT,
    "details": _DETAILS,
}
_ANSWER: Schema = {"model": TEXT, "created_at": TEXT, "done": {"const": True}}
_COUNTS: Schema = dict.fromkeys(
    (
        "total_duration",
        "load_duration",
        "prompt_eval_count",
        "prompt_eval_duration",
        "eval_count",
        "eval_duration",
        "approximate_tokens",
    ),
    WHOLE,
) | {"done_reason": {"enum": ["stop", "length", "load", "unload"]}}
_ERROR = refer("OllamaError")
OLLAMA_SCHEMAS: Schema = {
    "OllamaError": record({"error": TEXT, "code": TEXT}, {"param": optional("string")}),
    "OllamaChatRequest": record(
        _NAME,
        _SHARED
        | {
            "messages": {"anyOf": [{"type": "null"}, listed(_MESSAGE, maxItems=MAX_MESSAGES)]},
            "tools": {"anyOf": [{"type": "null"}, listed(CHAT_TOOL, maxItems=MAX_TOOLS)]},
        },
    ),
    "OllamaGenerateRequest": record(
        _NAME,
        _SHARED
        | {
            "prompt": optional("string"),
            "system": optional("string"),
            "raw": optional("boolean"),
        },
    ),
    "OllamaChatAnswer": record(
        _ANSWER | {"message": record({"role": {"const": "assistant"}, "content": TEXT})}, _COUNTS
    ),
    "OllamaGenerateAnswer": record(_ANSWER | {"response": TEXT}, _COUNTS),
}


def ollama_paths() -> Schema:
    """All paths."""
    version = record({"version": TEXT})
    tags = record({"models": listed(record(_MODEL | {"modified_at": TEXT}))})
    running = record({"models": listed(record(_MODEL | {"expires_at": TEXT}))})
    shown = record(
        {
            "template": TEXT,
            "parameters": TEXT,
            "details": _DETAILS,
            "model_info": {"type": "object"},
            "capabilities": listed(TEXT),
        }
    )
    return {
        "/api/tags": got("The models that are there: one", tags),
        "/api/ps": got("The models that are loaded: one", running),
        "/api/version": got("The level of Ollama's API", version),
        "/api/show": posted("The model", record(_NAME), shown, ERRORS, _ERROR),
        "/api/chat": _streamed("The next message of a chat", "Chat"),
        "/api/generate": _streamed("How a prompt is answered", "Generate"),
        **{f"/api/{name}": _refused("post", name) for name in ("pull", "push", "create", "copy")},
        "/api/delete": _refused("delete", "delete"),
        "/api/blobs/{digest}": _refused("post", "blobs", _DIGEST),
    }


_DIGEST: Schema = {"name": "digest", "in": "path", "required": True, "schema": TEXT}


def _streamed(summary: str, kind: str) -> Schema:
    request, answer = refer(f"Ollama{kind}Request"), refer(f"Ollama{kind}Answer")
    path = posted(summary, request, answer, ERRORS, _ERROR)
    path["post"]["responses"]["200"]["content"][_LINES] = {}
    return path


def _refused(method: str, name: str, parameter: Schema | None = None) -> Schema:
    content = {JSON: {"schema": _ERROR}}
    operation: Schema = {
        "summary": f"Not served: {name}",
        "responses": {"400": {"description": "Models are not managed here.", "content": content}},
    }
    if parameter is not None:
        operation["parameters"] = [parameter]
    return {method: operation}
