"""How far a model's next-token probabilities are from those of the exact one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from scripts.bench.quantized.ends import Ends

_ROWS_AT_ONCE = 128


@dataclass(frozen=True)
class Score:
    """Perplexity of the text; mean KL divergence from the exact model in nats; share of positions
    with the same likeliest token.
    """

    perplexity: float
    divergence: float
    same: float


@dataclass(frozen=True)
class Text:
    """Positions of a text that are scored: ``places`` of its hidden states, the token that follows
    each.
    """

    places: torch.Tensor
    following: torch.Tensor


def scored(sequences: list[list[int]], begins: list[int]) -> Text:
    """The tokens of every sequence from its begin on; hidden states lie one after the other."""
    places: list[int] = []
    following: list[int] = []
    offset = 0
    for ids, begin in zip(sequences, begins, strict=True):
        places += range(offset + begin - 1, offset + len(ids) - 1)
        following += ids[begin:]
        offset += len(ids)
    return Text(torch.tensor(places), torch.tensor(following))


def score(ends: Ends, text: Text, hidden: torch.Tensor, exact: torch.Tensor) -> Score:
    """``hidden`` and ``exact`` [n, H]: hidden states of all sequences."""
    nats = divergence = same = 0.0
    for places, following in zip(
        text.places.split(_ROWS_AT_ONCE), text.following.split(_ROWS_AT_ONCE), strict=True
    ):
        found = ends.logits(hidden[places]).log_softmax(dim=-1)
        truth = ends.logits(exact[places]).log_softmax(dim=-1)
        nats -= float(found.gather(1, following[:, None]).sum())
        divergence += float((truth.exp() * (truth - found)).sum())
        same += float((found.argmax(dim=-1) == truth.argmax(dim=-1)).sum())
    count = len(text.following)
    return Score(math.exp(nats / count), divergence / count, same / count)
