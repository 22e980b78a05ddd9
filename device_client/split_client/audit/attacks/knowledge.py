"""The attacker's knowledge besides recordings: the public model and the mechanism's parameters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from split_client.errors import TemplateFailed
from split_client.model.ends import DeviceEnds

_BLOCK = 8192
# A table of clipped rows beyond it is made again each time that it is looked at.
_KEPT_BYTES = 512 << 20
Message: TypeAlias = dict[str, str]
_ANSWER: Message = {"role": "assistant", "content": "I see."}
# Of edited instructions.
_NUMBERS = range(11, 27)
Block: TypeAlias = tuple[int, NDArray[np.float64], NDArray[np.float64]]


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

    ``corpus``: texts of the kind that users are expected to write. ``prefix`` and ``suffix`` stand
    around the message of a chat; ``variants`` are what may stand before it where something before
    the message was edited, equally long and different in a token or two.
    """

    def __init__(self, ends: DeviceEnds, corpus: Sequence[str]) -> None:
        self._ends = ends
        self.vocabulary = ends.manifest.embedding.rows
        self.hidden = ends.manifest.hidden_size
        self.digest = ends.manifest.digest
        self.prefix, self.suffix = chat_frame(ends)
        self.variants = _variants(ends)
        self._frequencies = _frequencies(ends, corpus, self.vocabulary)
        self._clipped: tuple[float | None, list[Block]] | None = None

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

    def clipped_blocks(self, clip: float | None) -> Iterable[Block]:
        """All rows [n, H] scaled down to norm ``clip`` where they are longer, in order, as (first
        id, rows, squares of their norms [n]).
        """
        if self.vocabulary * self.hidden * np.dtype(np.float64).itemsize > _KEPT_BYTES:
            return self._clip(clip)
        if self._clipped is None or self._clipped[0] != clip:
            self._clipped = (clip, list(self._clip(clip)))
        return self._clipped[1]

    def _clip(self, clip: float | None) -> Iterator[Block]:
        for start, block in self.blocks():
            table = clipped(block.astype(np.float64), clip)
            yield start, table, (table * table).sum(axis=1)

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


def clipped(rows: NDArray[np.float64], clip: float | None) -> NDArray[np.float64]:
    """``rows`` [n, H] scaled down to norm ``clip`` where they are longer."""
    if clip is None:
        return rows
    norms = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.asarray(rows * np.minimum(1.0, clip / np.maximum(norms, 1e-300)))


def chat_frame(ends: DeviceEnds, before: Sequence[Message] = ()) -> tuple[list[int], list[int]]:
    """Ids that stand before and after the message of a chat whose earlier messages are ``before``.

    A model without a chat template is asked with plain text, and nothing stands around it.
    """
    if ends.chat_template is None and not before:
        return ends.tokenizer.encode("", add_special_tokens=True), []
    contents = ("Qa", "7 z!", "no? x")
    prompts = [chat_ids(ends, content, before) for content in contents]
    return _common(prompts), _common([ids[::-1] for ids in prompts])[::-1]


def chat_ids(ends: DeviceEnds, content: str, before: Sequence[Message] = ()) -> list[int]:
    """The prompt of a chat whose last message is ``content``."""
    messages = [*before, {"role": "user", "content": content}]
    if ends.chat_template is None:
        text = "\n".join(message["content"] for message in messages)
        return ends.tokenizer.encode(text, add_special_tokens=True)
    return ends.tokenizer.encode(ends.template().render(messages))


def turns(messages: Sequence[str]) -> list[Message]:
    """A chat with these messages, each answered shortly."""
    return [
        message
        for content in messages
        for message in ({"role": "user", "content": content}, dict(_ANSWER))
    ]


def _variants(ends: DeviceEnds) -> tuple[tuple[int, ...], ...]:
    """What stands before a message behind instructions that differ in a number of two digits."""
    made = [_behind(ends, f"Conversation {number}.") for number in _NUMBERS]
    usual = Counter(map(len, made)).most_common(1)[0][0]
    return tuple(dict.fromkeys(ids for ids in made if len(ids) == usual))


def _behind(ends: DeviceEnds, instructions: str) -> tuple[int, ...]:
    """What stands before a message behind ``instructions``."""
    try:
        frame = chat_frame(ends, [{"role": "system", "content": instructions}])
    except TemplateFailed:
        # Some templates know no instructions: an earlier message stands for them.
        frame = chat_frame(ends, turns([instructions]))
    return tuple(frame[0])


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
