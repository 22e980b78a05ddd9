"""The Kobold API as an OpenAPI document has it; its WebSockets are in docs/kobold-api.md."""

from __future__ import annotations

from split_client.generation.sampling.logprobs import MAX_TOP_LOGPROBS
from split_client.generation.sampling.params import MAX_BIASED_TOKENS
from split_client.grammar.keywords import MOST_BYTES
from split_server.compat.keeping import MAX_GROUP, MAX_SALT, MAX_SHARED
from split_server.compat.kobold.attention import DTYPES, FORMATS, MODES
from split_server.compat.kobold.request import MAX_NAME, MAX_SAMPLES
from split_server.http.openapi.parts import (
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
from split_wire.attention import MAX_TOP_K
from split_wire.tiers import CACHES

_IDS: Schema = listed(refer("TokenId"))
_ERRORS = {
    "400": "The request is refused; `error_code` says why.",
    "408": "The body did not arrive in time.",
    "413": "Longer than the context, the memory or an answer allows.",
    "503": "The server is full (`OVERLOADED`) or stops; `Retry-After` says when to come back.",
    "504": "The request took longer than the server allows (`TIME_LIMIT`).",
}
_REPLY_ERRORS = _ERRORS | {"404": "The caller is in no cache group of this name."}
_LENGTH = optional("integer", minimum=1, maximum=2**31 - 1)
_SEED = optional("integer", minimum=-1, maximum=2**64 - 1)
_STOPS: Schema = {
    "anyOf": [
        optional("string", minLength=1, maxLength=4096),
        listed({"type": "string", "minLength": 1, "maxLength": 4096}, maxItems=256),
    ]
}
_GENERATION: Schema = {
    "max_new_tokens": _LENGTH,
    "max_length": _LENGTH,
    "temperature": optional("number", minimum=0, maximum=100),
    "top_p": optional("number", exclusiveMinimum=0, maximum=1),
    "top_k": optional("integer", minimum=0, maximum=2**31 - 1),
    "min_p": optional("number", minimum=0, maximum=1),
    "repetition_penalty": optional("number", minimum=0.01, maximum=100),
    "rep_pen": optional("number", minimum=0.01, maximum=100),
    "presence_penalty": optional("number", minimum=-2, maximum=2),
    "frequency_penalty": optional("number", minimum=-2, maximum=2),
    "do_sample": optional("boolean"),
    "sampler_seed": _SEED,
    "seed": _SEED,
    "stop_tokens": {"anyOf": [{"type": "null"}, _IDS]},
    "banned_tokens": {"anyOf": [{"type": "null"}, _IDS]},
    "stop_sequence": _STOPS,
    "stop": _STOPS,
    "ignore_eos": optional("boolean"),
    "ban_eos_token": optional("boolean"),
    "logit_bias": optional(
        "object",
        additionalProperties={"type": "number", "minimum": -100, "maximum": 100},
        maxProperties=MAX_BIASED_TOKENS,
    ),
    "logprobs": {"anyOf": [optional("boolean"), {"type": "integer", "minimum": 0, "maximum": 20}]},
    "top_logprobs": optional("integer", minimum=0, maximum=MAX_TOP_LOGPROBS),
    "num_samples": optional("integer", minimum=1, maximum=MAX_SAMPLES),
    "return_attention": optional("boolean"),
    "output_attentions": optional("boolean"),
    "attention_format": {"enum": [*FORMATS, None]},
    "aggregation_mode": {"enum": [*MODES, None]},
    "attention_dtype": {"enum": [*DTYPES, None]},
    "attention_top_k": optional("integer", minimum=1, maximum=MAX_TOP_K),
    "pruning_suggestion": optional("boolean"),
    "request_id": optional("string", maxLength=MAX_NAME),
    "genkey": optional("string", maxLength=MAX_NAME),
    "cache_salt": optional("string", maxLength=MAX_SALT),
    "cache_group": optional("string", maxLength=MAX_GROUP),
    "share_until": optional("integer", minimum=0, maximum=MAX_SHARED),
    "cache": {"enum": [*CACHES, None]},
    "grammar": optional("string", maxLength=MOST_BYTES),
}
_RESULT = record({"text": TEXT})
KOBOLD_SCHEMAS: Schema = {
    "KoboldError": record(
        {"type": {"const": "error"}, "error": TEXT, "error_code": TEXT, "detail": {}}
    ),
    "KoboldGeneration": {
        "anyOf": [
            record({"input_ids": listed(refer("TokenId"), minItems=1)}, _GENERATION),
            record({"prompt": {"type": "string", "minLength": 1}}, _GENERATION),
        ]
    },
    "KoboldModel": record(
        {
            "result": TEXT,
            "model_name": TEXT,
            "vocab_size": WHOLE,
            "num_layers": WHOLE,
            "num_attention_heads": WHOLE,
            "hidden_size": WHOLE,
            "max_context_length": WHOLE,
            "special_tokens": record(
                {
                    "bos_token": optional("string"),
                    "eos_token": optional("string"),
                    "pad_token": optional("string"),
                    "im_start_id": optional("integer", minimum=0),
                    "im_end_id": optional("integer", minimum=0),
                }
            ),
        }
    ),
}
_ERROR = refer("KoboldError")


def kobold_paths() -> Schema:
    """All routes that are plain HTTP."""
    model = got("The model that is served", refer("KoboldModel"))
    value = record({"value": WHOLE})
    return {
        "/api/v1/model": model,
        "/api/v1/model/info": model,
        "/api/extra/attention_version": got("The attention API's version", {"type": "object"}),
        "/api/v1/info/version": got("The level of Kobold's own API", record({"result": TEXT})),
        "/api/extra/version": got("The name that clients look for", record({"result": TEXT})),
        "/api/v1/config/max_context_length": got("The context in tokens", value),
        "/api/extra/true_max_context_length": got("The context in tokens", value),
        "/api/v1/config/max_length": got("Tokens of a reply by default", value),
        "/api/extra/preloadstory": got("The story to begin with: none", record({})),
        "/api/v1/tokenize": _text("A text as tokens", "text", "add_special_tokens", "token_ids"),
        "/api/v1/detokenize": posted(
            "Tokens as a text",
            record({"token_ids": _IDS}),
            record({"text": TEXT}),
            _ERRORS,
            _ERROR,
        ),
        "/api/extra/tokencount": _text("How long a prompt is", "prompt", "special", "ids"),
        "/api/v1/generate": posted(
            "A reply, whole",
            refer("KoboldGeneration"),
            record({"results": listed(_RESULT)}),
            _REPLY_ERRORS,
            _ERROR,
        ),
        "/api/extra/generate/stream": _streamed(),
        "/api/extra/generate/check": _checked(),
        "/api/extra/abort": posted(
            "Stop generations",
            record({}, {"genkey": optional("string", maxLength=MAX_NAME)}),
            record({"success": {"type": "boolean"}}),
            _ERRORS,
            _ERROR,
        ),
    }


def _checked() -> Schema:
    """Asked with the name of a generation, or with nothing."""
    summary, answer = "The reply that is being made, so far", record({"results": listed(_RESULT)})
    key = record({}, {"genkey": optional("string", maxLength=MAX_NAME)})
    return got(summary, answer) | posted(summary, key, answer, _ERRORS, _ERROR)


def _text(summary: str, field: str, flag: str, ids: str) -> Schema:
    body = record({field: TEXT}, {flag: optional("boolean")})
    return posted(summary, body, record({ids: _IDS}), _ERRORS, _ERROR)


def _streamed() -> Schema:
    streamed = posted(
        "A reply as server-sent events",
        refer("KoboldGeneration"),
        {},
        _REPLY_ERRORS,
        _ERROR,
        streams=True,
    )
    del streamed["post"]["responses"]["200"]["content"]["application/json"]
    return streamed
