"""Answers with vectors."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from split_server.compat.embeddings.pooling import Vector
from split_server.compat.embeddings.request import Pooling


def openai_document(
    model: str, vectors: Sequence[Vector], tokens: int, pooling: Pooling, *, binary: bool
) -> dict[str, Any]:
    """As OpenAI tells them, and how they were made; ``binary``: little endian float32 in base64."""
    return {
        "object": "list",
        "data": [
            {
                "object": "embedding",
                "index": index,
                "embedding": _base64(vector) if binary else numbers(vector),
            }
            for index, vector in enumerate(vectors)
        ],
        "model": model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        "pooling": pooling,
        "normalized": True,
    }


def numbers(vector: Vector) -> list[float]:
    """With as many digits as a float32 needs, which are half of those of its float64."""
    return [float(text) for text in map(str, vector)]


def _base64(vector: Vector) -> str:
    return base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode()
