"""The audited model's own prior for the audit's search, by the outside attack's quick engine.

The audit runs texts in sessions of a server; the probabilities are the same but for rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scripts.bench.outside.causal import Causal

_AT_ONCE = 256
_Text = tuple[int, ...]


class Tree:
    """log p(next token | text so far) behind ``before``; a text's message begins at ``lead``.

    Texts come as a search asks for them: all of one length, each longer by a token than before.
    """

    def __init__(self, model: Causal, before: Sequence[int], lead: int) -> None:
        self._model, self._before, self._lead = model, list(before), lead
        self._nodes: dict[_Text, list[int]] = {}
        self._logs: dict[_Text, Tensor] = {}

    def after(self, texts: NDArray[np.int64], tokens: NDArray[np.int64]) -> NDArray[np.float64]:
        """Log probabilities of ``tokens`` [k] after each of ``texts`` [n, length], [n, k]."""
        wanted = [tuple(map(int, text[self._lead :])) for text in texts]
        if not wanted[0]:
            self._begin()
        missing = sorted({text for text in wanted if text not in self._logs})
        for first in range(0, len(missing), _AT_ONCE):
            self._grow(missing[first : first + _AT_ONCE])
        chosen = torch.from_numpy(tokens)
        found = torch.stack([self._logs[text][chosen] for text in wanted]).double()
        self._logs = {text: self._logs[text] for text in wanted}
        return np.asarray(found.numpy())

    def _begin(self) -> None:
        """A search begins anew: nothing of the one before is kept."""
        logits = self._model.trunk(self._before)
        self._nodes, self._logs = {(): []}, {(): logits.log_softmax(-1)}

    def _grow(self, texts: list[_Text]) -> None:
        paths = torch.tensor([self._nodes[text[:-1]] for text in texts], dtype=torch.long)
        paths = paths.reshape(len(texts), -1)
        lengths = torch.full((len(texts),), paths.shape[1])
        newest = torch.tensor([text[-1] for text in texts])
        logits, nodes = self._model.grow(newest, paths, lengths)
        logs = logits.log_softmax(-1)
        for row, text in enumerate(texts):
            self._nodes[text] = [*self._nodes[text[:-1]], int(nodes[row])]
            self._logs[text] = logs[row]
