"""The attacker's knowledge besides recordings: the public model and the mechanism's parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.model.ends import DeviceEnds

_BLOCK = 8192


@dataclass(frozen=True, slots=True)
class Mechanism:
    """The treatment of the rows, which is no secret: clipped to norm ``clip``, then noised.

    ``sigma``: standard deviation of the noise of each number; 0 without noise. ``clip``: None
    where rows travel as they are.
    """

    sigma: float = 0.0
    clip: float | None = None

    def averaged(self, sessions: int) -> Mechanism:
        """The mean of so many independent releases."""
        return Mechanism(self.sigma / float(np.sqrt(sessions)), self.clip)


class PublicModel:
    """Embedding table, LM head, tokenizer and chat template, which every device can download.

    ``corpus``: texts of the kind that users are expected to write.
    """

    def __init__(self, ends: DeviceEnds, corpus: Sequence[str]) -> None:
        self._ends = ends
        self.vocabulary = ends.manifest.embedding.rows
        self.hidden = ends.manifest.hidden_size
        self.digest = ends.manifest.digest
        self.prefix, self.suffix = chat_frame(ends)
        self._frequencies = _frequencies(ends, corpus, self.vocabulary)

    @property
    def log_frequencies(self) -> NDArray[np.float64]:
        """Log probabilities of the tokens in the corpus, each counted once more, [V]."""
        return self._frequencies

    def rows(self, ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
        """Clean rows as a device would send them, [n, H]."""
        return self._ends.embedder.lookup([int(index) for index in ids], "f32")

    def blocks(self) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """All clean rows in order, as (first id, rows)."""
        for start in range(0, self.vocabulary, _BLOCK):
            yield start, self.rows(np.arange(start, min(start + _BLOCK, self.vocabulary)))

    def log_probabilities(self, states: NDArray[np.float32]) -> NDArray[np.float64]:
        """Log probabilities that the LM head makes of hidden states [n, H], at once: [n, V]."""
        logits = self._ends.head.logits_of_states(states).astype(np.float64)
        peaks = logits.max(axis=1, keepdims=True)
        normalisers = peaks + np.log(np.exp(logits - peaks).sum(axis=1, keepdims=True))
        return np.asarray(logits - normalisers)

    def text(self, ids: Sequence[int]) -> str:
        """The text of tokens."""
        return self._ends.tokenizer.decode([int(index) for index in ids])

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text."""
        return self._ends.tokenizer.encode(text)


def chat_frame(ends: DeviceEnds) -> tuple[list[int], list[int]]:
    """Ids that stand before and after the message of a chat with one message.

    A model without a chat template is asked with plain text, and nothing stands around it.
    """
    if ends.chat_template is None:
        return ends.tokenizer.encode("", add_special_tokens=True), []
    contents = ("Qa", "7 z!", "no? x")
    prompts = [chat_ids(ends, content) for content in contents]
    return _common(prompts), _common([ids[::-1] for ids in prompts])[::-1]


def chat_ids(ends: DeviceEnds, content: str) -> list[int]:
    """The prompt of a chat whose only message is ``content``."""
    if ends.chat_template is None:
        return ends.tokenizer.encode(content, add_special_tokens=True)
    rendered = ends.template().render([{"role": "user", "content": content}])
    return ends.tokenizer.encode(rendered)


def _common(lists: list[list[int]]) -> list[int]:
    shared = []
    for column in zip(*lists, strict=False):
        if len(set(column)) > 1:
            break
        shared.append(column[0])
    return shared


def _frequencies(ends: DeviceEnds, corpus: Sequence[str], vocabulary: int) -> NDArray[np.float64]:
    counts = np.ones(vocabulary)
    for index, count in Counter(i for text in corpus for i in ends.tokenizer.encode(text)).items():
        counts[index] += count
    return np.asarray(np.log(counts / counts.sum()))
