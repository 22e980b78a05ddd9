"""Answers and paths of OpenAI's API as an OpenAPI document has them."""

from __future__ import annotations

from split_server.http.openapi.openai_requests import CALL, REQUEST_SCHEMAS
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

_ERRORS = ERRORS | {
    "409": "Nothing is kept of prompts, for this request or at all (`nothing_kept`).",
    "413": "The prompt, the body or a pin is too large.",
}
_USAGE = record(
    {
        "prompt_tokens": WHOLE,
        "completion_tokens": WHOLE,
        "total_tokens": WHOLE,
        "prompt_tokens_details": record({"cached_tokens": WHOLE}, {"approximate_tokens": WHOLE}),
        "completion_tokens_details": record(
            {"accepted_prediction_tokens": WHOLE, "rejected_prediction_tokens": WHOLE}
        ),
    }
)
_SCORED = record(
    {"token": TEXT, "logprob": {"type": "number"}, "bytes": {"type": ["array", "null"]}}
)
_SCORED_TOP: Schema = {"allOf": [_SCORED, record({"top_logprobs": listed(_SCORED)})]}
_REASON: Schema = {"enum": ["stop", "length", "tool_calls", "function_call"]}
_CHAT_CHOICE = record(
    {
        "index": WHOLE,
        "message": record(
            {"role": {"const": "assistant"}, "content": optional("string")},
            {"tool_calls": listed(CALL)},
        ),
        "logprobs": {"anyOf": [{"type": "null"}, record({"content": listed(_SCORED_TOP)})]},
        "finish_reason": _REASON,
    }
)
_TEXT_SCORES = record(
    {
        "tokens": listed(TEXT),
        "token_logprobs": listed(optional("number")),
        "top_logprobs": listed(optional("object", additionalProperties={"type": "number"})),
        "text_offset": listed(WHOLE),
    }
)
_TEXT_CHOICE = record(
    {
        "index": WHOLE,
        "text": TEXT,
        "logprobs": {"anyOf": [{"type": "null"}, _TEXT_SCORES]},
        "finish_reason": _REASON,
    }
)


def _completion(kind: str, choice: Schema) -> Schema:
    head: Schema = {
        "id": TEXT,
        "object": {"const": kind},
        "created": WHOLE,
        "model": TEXT,
        "system_fingerprint": TEXT,
    }
    return record(head | {"choices": listed(choice), "usage": _USAGE})


_MODEL = record(
    {
        "id": TEXT,
        "object": {"const": "model"},
        "created": WHOLE,
        "owned_by": TEXT,
        "context_length": WHOLE,
        "max_model_len": WHOLE,
    }
)
OPENAI_SCHEMAS: Schema = REQUEST_SCHEMAS | {
    "OpenAIError": record(
        {
            "error": record(
                {
                    "message": TEXT,
                    "type": {"enum": ["invalid_request_error", "server_error"]},
                    "param": optional("string"),
                    "code": TEXT,
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
    "ChatAnswer": _completion("chat.completion", _CHAT_CHOICE),
    "CompletionAnswer": _completion("text_completion", _TEXT_CHOICE),
}
_MODEL_ID: Schema = {"name": "id", "in": "path", "required": True, "schema": TEXT}
_ERROR = refer("OpenAIError")


def _counts(*names: str) -> Schema:
    return record(dict.fromkeys(names, WHOLE))


def openai_paths() -> Schema:
    """All routes below ``/v1``."""
    model = got("The model that is served", refer("Model"), [_MODEL_ID])
    model["get"]["responses"]["404"] = {
        "description": _ERRORS["404"],
        "content": {JSON: {"schema": _ERROR}},
    }
    listing = record({"object": {"const": "list"}, "data": listed(refer("Model"))})
    stats = record(
        {
            "model": TEXT,
            "generations": _counts("running", "waiting", "ended"),
            "tokens": _counts("prompt", "cached", "completion"),
            "sessions": _counts("idle"),
            "cache": record(
                {
                    "reuse": {"enum": ["exact", "off"]},
                    "positions": _counts("computed", "pool_asked", "pool_sent", "waited", "disk"),
                    "tiers": {"type": "object", "additionalProperties": WHOLE},
                    "hit_share": {"type": "number", "minimum": 0, "maximum": 1},
                    "bytes": record(
                        {"memory": WHOLE, "disk": {"anyOf": [{"type": "null"}, WHOLE]}}
                    ),
                }
            ),
            "kernels": record({"attention": TEXT, "linears": TEXT}, {"pages": TEXT}),
        }
    )
    warmed = record({"object": {"const": "warm"}, "model": TEXT}, {"pinned_tokens": WHOLE})
    warmed["allOf"] = [_counts("cached_tokens", "computed_tokens")]
    way = record(
        {
            "way": {"enum": ["warm", "parked", "disk"]},
            "positions": WHOLE,
            "reused": WHOLE,
            "difference": optional("number"),
            "tokens_equal": {"type": "boolean"},
            "failure": optional("string"),
        }
    )
    verified = record(
        {
            "object": {"const": "cache.verification"},
            "model": TEXT,
            "ok": {"type": "boolean"},
            "dtype": TEXT,
            "bound": {"type": "number"},
            "problems": listed(TEXT),
            "prompts": listed(record({"tokens": WHOLE, "ways": listed(way)})),
        }
    )
    return {
        **_token_paths(),
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
        "/v1/cache/verify": posted(
            "Whether what is kept gives what computing gives",
            refer("VerifyRequest"),
            verified,
            _ERRORS,
            _ERROR,
        ),
    }


def _token_paths() -> Schema:
    """What clients of vLLM and llama.cpp ask for beside ``/v1``."""
    piece = record({"id": WHOLE, "piece": TEXT})
    tokens: Schema = {"anyOf": [listed(refer("TokenId")), listed(piece)]}
    told = record(
        {
            "count": WHOLE,
            "max_model_len": WHOLE,
            "tokens": tokens,
            "token_strs": {"anyOf": [{"type": "null"}, listed(TEXT)]},
        }
    )
    text = record({"prompt": TEXT, "content": TEXT})
    asked, back = refer("TokenizeRequest"), refer("DetokenizeRequest")
    info = record(
        {"tokenizer_class": TEXT, "model_max_length": WHOLE, "vocab_size": WHOLE},
        {name: optional("string") for name in ("bos_token", "eos_token", "chat_template")},
    )
    settings = record({"n_ctx": WHOLE, "params": {"type": "object"}})
    props = record(
        {
            "default_generation_settings": settings,
            "total_slots": WHOLE,
            "model_alias": TEXT,
            "chat_template": TEXT,
        }
    )
    return {
        "/tokenize": posted("The tokens of a text or a chat", asked, told, _ERRORS, _ERROR),
        "/detokenize": posted("The text of tokens", back, text, _ERRORS, _ERROR),
        "/tokenizer_info": got("The tokenizer", info),
        "/props": got("The model, as llama.cpp tells it", props),
    }
