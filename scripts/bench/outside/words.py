"""A causal language model as prior where the target has other tokens: a lattice of both.

A context has a node of the trie, the target's tokens of a word that is not finished, and two
distributions of the model: before that word, and behind it as if it ended here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scripts.bench.outside.causal import Causal
from scripts.bench.outside.counts import Floats, Keys
from scripts.bench.outside.prior import Mixture
from scripts.bench.outside.target import Target
from scripts.bench.outside.trie import Trie


@dataclass(frozen=True, slots=True)
class Known:
    """Of S rows: nodes ``paths`` [S, T] of which ``lengths`` [S] count, and summed probabilities
    ``sums`` [S, U + 1] of what follows, in the trie's order; ``ends`` [S]: of the turn's end.
    """

    paths: Tensor
    lengths: Tensor
    sums: Tensor
    ends: Tensor

    def of(self, rows: Tensor) -> Known:
        """Those rows."""
        return Known(self.paths[rows], self.lengths[rows], self.sums[rows], self.ends[rows])


@dataclass(frozen=True, slots=True)
class Open:
    """``pending``: each context's node and the target's tokens that led there."""

    keys: Keys
    nodes: list[int]
    pending: list[tuple[int, ...]]
    before: Known
    behind: Known


class Words:
    """``share`` of the probability is the model's; ``grams`` are the target's."""

    def __init__(
        self, model: Causal, own: Target, target: Target, grams: Mixture, share: float
    ) -> None:
        self._model, self._own, self._target, self._grams = model, own, target, grams
        self._share, self._end = share, own.after[0]
        self._trie = Trie(_spelled(own, target), target.size)
        self._order = torch.from_numpy(self._trie.order)
        self._pieces: dict[tuple[int, ...], list[int]] = {}

    def single(self) -> Floats:
        """[V]: the n-grams', without any context."""
        return self._grams.single()

    def start(self) -> tuple[Keys, Open]:
        """Before a message."""
        keys, _ = self._grams.start()
        logits = self._model.trunk(list(self._own.before))[None]
        empty = torch.empty((1, 0), dtype=torch.long)
        known = self._known(logits, empty, torch.zeros(1, dtype=torch.long))
        return keys, Open(keys, [0], [()], known, known)

    def behind(self, state: Open, tokens: NDArray[np.int64]) -> Floats:
        """Probabilities [S, len(tokens)]."""
        going, ended = self._ways(state, tokens)
        grams = self._grams.behind(state.keys, tokens)
        mixed: Floats = self._share * (going + ended) + (1 - self._share) * grams
        return mixed

    def ends(self, state: Open) -> Floats:
        """Probabilities [S] that the message ends here."""
        own = self._exact(state) * state.behind.ends.double().numpy()
        mixed: Floats = self._share * own + (1 - self._share) * self._grams.ends(state.keys)
        return mixed

    def keys(self, state: Open, rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> Keys:
        """The last tokens, as for n-grams."""
        return self._grams.keys(state.keys, rows, tokens)

    def step(self, state: Open, rows: NDArray[np.int64], tokens: NDArray[np.int64]) -> Open:
        """One token on: the word goes on, or it has ended and another begins."""
        goes = self._goes_on(state, rows, tokens)
        nodes, pending, taken = [], [], []
        for row, token, on in zip(rows.tolist(), tokens.tolist(), goes, strict=True):
            way = (*state.pending[row], token) if on else (token,)
            node = self._trie.child(state.nodes[row] if on else 0, token)
            nodes.append(-1 if node is None else node)
            pending.append(way)
            taken.append(row if on else row + len(state.nodes))
        both = _joined(state.before, state.behind).of(torch.tensor(taken))
        keys = self.keys(state, rows, tokens)
        return Open(keys, nodes, pending, both, self._grown(both, nodes, pending))

    def _goes_on(
        self, state: Open, rows: NDArray[np.int64], tokens: NDArray[np.int64]
    ) -> list[bool]:
        """Which of the two ways is likelier for each."""
        distinct, column = np.unique(tokens, return_inverse=True)
        going, ended = self._ways(state, distinct)
        found: list[bool] = (going[rows, column] > ended[rows, column]).tolist()
        return found

    def _ways(self, state: Open, tokens: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Probabilities [S, len(tokens)] that the word goes on so, and that another begins so."""
        sums = state.behind.sums
        first = sums[:, self._trie.high[tokens]] - sums[:, self._trie.low[tokens]]
        ended = first.clamp(min=0).double().numpy() * self._exact(state)[:, None]
        going = np.zeros_like(ended)
        column = np.full(self._target.size, -1)
        column[tokens] = np.arange(len(tokens))
        before = state.before.sums.numpy()
        for row, node in enumerate(state.nodes):
            if node <= 0 or not self._trie.nodes[node].tokens:
                continue
            found = self._trie.nodes[node]
            low, high = self._trie.ranges(node)
            whole = max(before[row, found.high] - before[row, found.low], 1e-9)
            places = column[found.tokens]
            shares = np.maximum(before[row, high] - before[row, low], 0.0) / whole
            going[row, places[places >= 0]] = shares[places >= 0]
        return going, ended

    def _exact(self, state: Open) -> Floats:
        """[S]: how likely the pending word ends here."""
        result = np.full(len(state.nodes), 0.3)
        sums = state.before.sums.numpy()
        for row, node in enumerate(state.nodes):
            if node == 0:
                result[row] = 1.0
            elif node > 0:
                found = self._trie.nodes[node]
                whole = max(sums[row, found.high] - sums[row, found.low], 1e-9)
                part = sums[row, found.exact] - sums[row, found.low]
                result[row] = min(max(part / whole, 1e-3), 1.0)
        return result

    def _grown(self, known: Known, nodes: list[int], pending: list[tuple[int, ...]]) -> Known:
        """Behind the pending words."""
        ways = [self._way(node, word) for node, word in zip(nodes, pending, strict=True)]
        longest = max(map(len, ways))
        paths = torch.cat([known.paths, known.paths.new_zeros(len(ways), longest)], 1)
        lengths = known.lengths.clone()
        logits = torch.zeros(len(ways), self._model.size)
        for at in range(longest):
            rows = torch.tensor([row for row, way in enumerate(ways) if len(way) > at])
            tokens = torch.tensor([way[at] for way in ways if len(way) > at])
            found, new = self._model.grow(tokens, paths[rows], lengths[rows])
            paths[rows, lengths[rows]] = new
            lengths[rows] += 1
            logits[rows] = found
        return self._known(logits, paths[:, : int(lengths.max())], lengths)

    def _known(self, logits: Tensor, paths: Tensor, lengths: Tensor) -> Known:
        share = logits.softmax(-1)
        sums = torch.nn.functional.pad(share[:, self._order].cumsum(-1), (1, 0))
        return Known(paths, lengths, sums, share[:, self._end])

    def _way(self, node: int, word: tuple[int, ...]) -> list[int]:
        """The model's tokens of a word."""
        ending = self._trie.ending(node) if node > 0 else None
        if ending is not None:
            return [ending]
        if word not in self._pieces:
            text = self._target.tokenizer.decode(list(word))
            self._pieces[word] = self._own.encode([text])[0] or [self._end]
        return self._pieces[word]


def _joined(first: Known, second: Known) -> Known:
    longest = max(first.paths.shape[1], second.paths.shape[1])
    paths = [
        torch.nn.functional.pad(known.paths, (0, longest - known.paths.shape[1]))
        for known in (first, second)
    ]
    return Known(
        torch.cat(paths),
        torch.cat([first.lengths, second.lengths]),
        torch.cat([first.sums, second.sums]),
        torch.cat([first.ends, second.ends]),
    )


def _spelled(own: Target, target: Target) -> list[list[int]]:
    """Each of the model's tokens in the target's; empty where it is special or no whole text."""
    texts = [
        "" if token in own.special else own.tokenizer.decode([token]) for token in range(own.size)
    ]
    ways = target.encode(texts)
    return [[] if "\ufffd" in text else way for text, way in zip(texts, ways, strict=True)]
