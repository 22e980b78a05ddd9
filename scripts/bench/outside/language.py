"""A causal language model as prior where the target has its tokens, mixed with n-grams."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scripts.bench.outside.causal import Causal
from scripts.bench.outside.counts import Floats, Keys
from scripts.bench.outside.prior import Mixture


@dataclass(frozen=True, slots=True)
class Branches:
    """Contexts: the n-grams' ``keys``, nodes ``paths`` [S, T], logits [S, V] of what follows."""

    keys: Keys
    paths: Tensor
    logits: Tensor


@dataclass(frozen=True, slots=True)
class Language:
    """``share`` of the probability is the model's, behind the template's tokens ``before``."""

    model: Causal
    grams: Mixture
    before: tuple[int, ...]
    end: int
    share: float

    def single(self) -> Floats:
        """[V]: the n-grams', without any context."""
        return self.grams.single()

    def start(self) -> tuple[Keys, Branches]:
        """Before a message."""
        keys, _ = self.grams.start()
        logits = self.model.trunk(list(self.before))[None]
        return keys, Branches(keys, torch.empty((1, 0), dtype=torch.long), logits)

    def behind(self, state: Branches, tokens: NDArray[np.int64]) -> Floats:
        """Probabilities [S, len(tokens)]."""
        own = state.logits[:, tokens] - state.logits.logsumexp(-1, keepdim=True)
        grams = self.grams.behind(state.keys, tokens)
        mixed: Floats = self.share * own.double().exp().numpy() + (1 - self.share) * grams
        return mixed

    def ends(self, state: Branches) -> Floats:
        """Probabilities [S] of the token that ends a turn."""
        own = (state.logits[:, self.end] - state.logits.logsumexp(-1)).double().exp().numpy()
        mixed: Floats = self.share * own + (1 - self.share) * self.grams.ends(state.keys)
        return mixed

    def keys(self, state: Branches, rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> Keys:
        """The last tokens, as for n-grams."""
        return self.grams.keys(state.keys, rows, tokens)

    def step(self, state: Branches, rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> Branches:
        """One token on."""
        paths = state.paths[rows]
        lengths = torch.full((len(rows),), paths.shape[1])
        logits, nodes = self.model.grow(torch.from_numpy(tokens), paths, lengths)
        paths = torch.cat([paths, nodes[:, None]], 1)
        return Branches(self.keys(state, rows, tokens), paths, logits)
