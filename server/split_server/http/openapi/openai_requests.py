"""Requests of OpenAI's API as an OpenAPI document has them."""

from __future__ import annotations

from split_client.generation.sampling.params import MAX_BIASED_TOKENS
from split_client.grammar.keywords import MOST_BYTES, MOST_CHOICES
from split_server.compat.keeping import MAX_GROUP, MAX_SALT, MAX_SHARED
from split_server.compat.openai.chat_request import DEFAULT_TOKENS as CHAT_TOKENS
from split_server.compat.openai.completion_request import DEFAULT_TOKENS as TEXT_TOKENS
from split_server.compat.openai.completion_request import MAX_PROMPTS
from split_server.compat.openai.options import (
    MAX_CHOICES,
    MAX_STOP,
    MAX_STOP_TOKENS,
    MAX_STOPS,
    MAX_TOP_LOGPROBS,
    RETENTIONS,
)
from split_server.compat.openai.prompts.messages import MAX_MESSAGES
from split_server.compat.openai.sampling import MAX_TEMPERATURE
from split_server.compat.openai.tools import MAX_TOOLS
from split_server.compat.openai.verify_request import MAX_PROMPTS as VERIFIED_PROMPTS
from split_server.compat.openai.verify_request import MAX_TOKENS as VERIFIED_TOKENS
from split_server.compat.openai.warm_request import MAX_PIN_SECONDS
from split_server.http.openapi.parts import (
    TEXT,
    Schema,
    listed,
    optional,
    record,
    refer,
)
from split_wire.tiers import CACHES

_IDS: Schema = listed(refer("TokenId"), minItems=1)
_SAMPLING: Schema = {
    "model": optional("string"),
    "cache_salt": optional("string", maxLength=MAX_SALT),
    "cache_group": optional("string", maxLength=MAX_GROUP),
    "share_until": optional("integer", minimum=0, maximum=MAX_SHARED),
    "cache": {"enum": [*CACHES, None]},
    "prompt_cache_retention": {"enum": [*RETENTIONS, None]},
    "prompt_cache_key": optional("string"),
    "stream": optional("boolean"),
    "stream_options": optional("object", properties={"include_usage": optional("boolean")}),
    "n": optional("integer", minimum=1, maximum=MAX_CHOICES),
    "seed": optional("integer"),
    "temperature": optional("number", minimum=0, maximum=MAX_TEMPERATURE),
    "top_p": optional("number", minimum=0, maximum=1),
    "top_k": optional("integer", minimum=-1, maximum=2**31 - 1),
    "min_p": optional("number", minimum=0, maximum=1),
    "repetition_penalty": optional("number", minimum=0.01, maximum=100),
    "repeat_penalty": optional("number", minimum=0.01, maximum=100),
    "repetition_penalty_range": optional("integer", minimum=-1, maximum=2**31 - 1),
    "min_tokens": optional("integer", minimum=0, maximum=1 << 24),
    "ignore_eos": optional("boolean"),
    "stop_token_ids": {
        "anyOf": [{"type": "null"}, listed(refer("TokenId"), maxItems=MAX_STOP_TOKENS)]
    },
    "add_special_tokens": optional("boolean"),
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
                    "json_schema": record({"schema": {"type": "object"}}, {"name": TEXT}),
                }
            ),
        ]
    },
    "guided_json": {"type": ["object", "string", "null"]},
    "guided_regex": optional("string", maxLength=MOST_BYTES),
    "guided_grammar": optional("string", maxLength=MOST_BYTES),
    "guided_choice": {
        "anyOf": [
            {"type": "null"},
            listed({"type": "string", "minLength": 1}, minItems=1, maxItems=MOST_CHOICES),
        ]
    },
}


def _tokens(default: int) -> Schema:
    limit: Schema = {
        "anyOf": [optional("integer", minimum=1, maximum=1 << 24), {"const": -1}],
        "default": default,
    }
    return {"max_tokens": limit, "max_completion_tokens": limit}


_CONTENT: Schema = {
    "anyOf": [TEXT, listed(record({"type": {"const": "text"}, "text": TEXT}), maxItems=256)]
}
CALL = record(
    {
        "id": TEXT,
        "type": {"const": "function"},
        "function": record({"name": TEXT, "arguments": TEXT}),
    }
)
_MESSAGE: Schema = {
    "anyOf": [
        record(
            {"role": {"enum": ["system", "developer", "user", "assistant"]}, "content": _CONTENT}
        ),
        record({"role": {"const": "assistant"}, "tool_calls": listed(CALL, minItems=1)}),
        record({"role": {"const": "tool"}, "tool_call_id": TEXT, "content": _CONTENT}),
    ]
}
CHAT_TOOL = record(
    {
        "type": {"const": "function"},
        "function": record(
            {"name": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"}},
            {"description": TEXT, "parameters": {"type": "object"}},
        ),
    }
)
_CHAT_ONLY: Schema = {
    "logprobs": optional("boolean"),
    "top_logprobs": optional("integer", minimum=0, maximum=MAX_TOP_LOGPROBS),
    "tools": {"anyOf": [{"type": "null"}, listed(CHAT_TOOL, maxItems=MAX_TOOLS)]},
    "tool_choice": {
        "anyOf": [
            {"enum": ["none", "auto", "required", "any", None]},
            record({"type": {"const": "function"}, "function": record({"name": TEXT})}),
        ]
    },
    "parallel_tool_calls": optional("boolean"),
    "chat_template_kwargs": optional("object"),
    "add_generation_prompt": optional("boolean"),
    "prediction": {
        "anyOf": [
            {"type": "null"},
            record({"type": {"const": "content"}, "content": _CONTENT}),
        ]
    },
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
_TOKENIZE: Schema = {
    "anyOf": [
        record(
            {"prompt": TEXT},
            {
                "add_special_tokens": optional("boolean"),
                "return_token_strs": optional("boolean"),
            },
        ),
        record(
            {"content": TEXT},
            {"add_special": optional("boolean"), "with_pieces": optional("boolean")},
        ),
        record(
            {"messages": listed(refer("Message"), minItems=1)},
            {"add_generation_prompt": optional("boolean"), "tools": _CHAT_ONLY["tools"]},
        ),
    ]
}
_WARM: Schema = {
    "cache_salt": optional("string", maxLength=MAX_SALT),
    "pin_seconds": optional("integer", minimum=0, maximum=MAX_PIN_SECONDS),
}
REQUEST_SCHEMAS: Schema = {
    "Message": _MESSAGE,
    "ChatRequest": record(
        {"messages": listed(refer("Message"), minItems=1, maxItems=MAX_MESSAGES)},
        _SAMPLING | _tokens(CHAT_TOKENS) | _CHAT_ONLY,
    ),
    "CompletionRequest": record({"prompt": _PROMPT}, _SAMPLING | _tokens(TEXT_TOKENS) | _TEXT_ONLY),
    "TokenizeRequest": _TOKENIZE,
    "DetokenizeRequest": record({"tokens": listed(refer("TokenId"))}),
    "VerifyRequest": record(
        {},
        {
            "prompts": {
                "anyOf": [
                    {"type": "null"},
                    listed(
                        {
                            "anyOf": [
                                {"type": "string", "minLength": 1},
                                _IDS,
                                record(
                                    {
                                        "prompt": {
                                            "anyOf": [{"type": "string", "minLength": 1}, _IDS]
                                        }
                                    }
                                ),
                                record(
                                    {"messages": listed(refer("Message"), minItems=1)},
                                    {"tools": _CHAT_ONLY["tools"]},
                                ),
                            ]
                        },
                        minItems=1,
                        maxItems=VERIFIED_PROMPTS,
                    ),
                ]
            },
            "tokens": optional("integer", minimum=1, maximum=VERIFIED_TOKENS),
        },
    ),
    "WarmRequest": {
        "anyOf": [
            record({"messages": listed(refer("Message"), minItems=1)}, _WARM),
            record({"prompt": {"anyOf": [{"type": "string", "minLength": 1}, _IDS]}}, _WARM),
        ]
    },
}
