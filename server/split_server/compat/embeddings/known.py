"""The fields of the two APIs that ask for embeddings, and which of them have an effect here."""

from __future__ import annotations

from typing import Final

from split_server.compat.translating.known import Known

_AS_THEY_ARE: Final = "an embedding has as many numbers as the model's hidden states"
OPENAI: Final = Known(("input", "model", "encoding_format", "dimensions", "pooling"), ("user",))
OLLAMA: Final = Known(
    ("input", "model", "name", "truncate", "dimensions", "options", "pooling"), ("keep_alive",)
)
# Of the older path.
OLLAMA_ONE: Final = Known(
    ("prompt", "model", "name", "options", "pooling"),
    ("keep_alive",),
    reasons={"input": "prompt"},
)
DIMENSIONS_REASON: Final = _AS_THEY_ARE
