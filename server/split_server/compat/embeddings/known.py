"""The fields of the two APIs that ask for embeddings, and which of them have an effect here."""

from __future__ import annotations

from typing import Final

from split_server.compat.accepted.values import known

_AS_THEY_ARE: Final = "an embedding has as many numbers as the model's hidden states"
OPENAI: Final = known(("input", "model", "encoding_format", "dimensions", "pooling"), ("user",))
OLLAMA: Final = known(
    ("input", "model", "name", "truncate", "dimensions", "options", "pooling"), ("keep_alive",)
)
# Of the older path.
OLLAMA_ONE: Final = known(
    ("prompt", "model", "name", "options", "pooling"),
    ("keep_alive",),
    reasons={"input": "prompt"},
)
DIMENSIONS_REASON: Final = _AS_THEY_ARE
