"""Embeddings as an OpenAPI document has them."""

from __future__ import annotations

from split_server.compat.embeddings.request import MAX_INPUTS, POOLINGS
from split_server.http.openapi.parts import (
    ERRORS,
    WHOLE,
    Schema,
    listed,
    optional,
    posted,
    record,
    refer,
)

_TEXT: Schema = {"type": "string", "minLength": 1}
_IDS: Schema = listed(refer("TokenId"), minItems=1)
_VECTOR: Schema = listed({"type": "number"})
_ERRORS = ERRORS | {"413": "A text or the body is too large."}
_INPUT: Schema = {
    "anyOf": [
        _TEXT,
        _IDS,
        listed(_TEXT, minItems=1, maxItems=MAX_INPUTS),
        listed(_IDS, minItems=1, maxItems=MAX_INPUTS),
    ]
}
_POOLING: Schema = {"enum": [*POOLINGS, None], "default": POOLINGS[0]}
_MADE: Schema = {"pooling": {"enum": list(POOLINGS)}, "normalized": {"const": True}}
_REQUEST = record(
    {"input": _INPUT},
    {
        "model": optional("string"),
        "encoding_format": {"enum": ["float", "base64", None]},
        "pooling": _POOLING,
        "user": optional("string"),
    },
)
_ANSWER = record(
    {
        "object": {"const": "list"},
        "data": listed(
            record(
                {
                    "object": {"const": "embedding"},
                    "index": WHOLE,
                    "embedding": {"anyOf": [_VECTOR, {"type": "string"}]},
                }
            )
        ),
        "model": {"type": "string"},
        "usage": record({"prompt_tokens": WHOLE, "total_tokens": WHOLE}),
        **_MADE,
    }
)
_OLLAMA_REQUEST = record(
    {"model": _TEXT, "input": _INPUT},
    {"truncate": optional("boolean", default=True), "pooling": _POOLING},
)
_OLLAMA_ANSWER = record(
    {
        "model": {"type": "string"},
        "embeddings": listed(_VECTOR),
        "total_duration": WHOLE,
        "load_duration": WHOLE,
        "prompt_eval_count": WHOLE,
        **_MADE,
    }
)


def embeddings_paths() -> Schema:
    """Of both APIs."""
    ollamas = refer("OllamaError")
    one = record({"model": _TEXT, "prompt": optional("string")}, {"pooling": _POOLING})
    return {
        "/v1/embeddings": posted(
            "Texts as vectors", _REQUEST, _ANSWER, _ERRORS, refer("OpenAIError")
        ),
        "/api/embed": posted("Texts as vectors", _OLLAMA_REQUEST, _OLLAMA_ANSWER, _ERRORS, ollamas),
        "/api/embeddings": posted(
            "A text as a vector", one, record({"embedding": _VECTOR}), _ERRORS, ollamas
        ),
    }
