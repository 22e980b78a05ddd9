"""Greedy replies of a model under a schema, and how many of their tokens it would have written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.bench.forms.walk import Separators, matcher_of
from split_client.grammar.vocabulary import Vocabulary

MOST = 60
Logits = Callable[[list[int]], NDArray[np.float32]]


@dataclass(slots=True)
class Replied:
    """``own``: tokens that were the model's likeliest of all."""

    tokens: int = 0
    own: int = 0


def reply(
    vocabulary: Vocabulary,
    logits: Logits,
    prompt: list[int],
    schema: dict[str, Any],
    separators: Separators,
) -> Replied:
    """One reply of at most MOST tokens."""
    matcher, ids, counted = matcher_of(vocabulary, schema, separators), list(prompt), Replied()
    while counted.tokens < MOST and not matcher.is_stopped():
        scores = logits(ids)
        mask = vocabulary.mask(matcher)
        token = int(np.where(mask, scores[: len(mask)], -np.inf).argmax())
        matcher.consume_token(token)
        counted.tokens += 1
        counted.own += token == int(scores.argmax())
        ids.append(token)
    return counted
