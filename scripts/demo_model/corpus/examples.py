"""The training corpus as token ids with a loss weight for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
from tokenizers import Tokenizer

from scripts.demo_model.corpus.conversation import Conversation, Sampler
from scripts.demo_model.corpus.documents import document
from scripts.demo_model.tokenizer import END, END_OF_TEXT, START

CONTEXT = 4096
DOCUMENT_SHARE = 0.10  # of the examples
LONG_SHARE = 0.004  # of the examples; they hold about a tenth of the tokens
USER_WEIGHT = 0.1


@dataclass(frozen=True)
class Example:
    """ids: int64 [n]; weights: float32 [n], the loss weight of predicting each id."""

    ids: np.ndarray
    weights: np.ndarray


class Encoder:
    """Turns conversations and documents into examples, with a cache for repeated texts."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._cache: dict[str, list[int]] = {}
        vocabulary = tokenizer.get_vocab()
        self._start, self._end, self._stop = (vocabulary[m] for m in (START, END, END_OF_TEXT))
        self._newline = self._encode("\n")

    def _encode(self, text: str) -> list[int]:
        if text not in self._cache:
            if len(self._cache) > 200_000:
                self._cache.clear()
            self._cache[text] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return self._cache[text]

    def conversation(self, chat: Conversation) -> Example:
        """Assistant text counts fully, the other text a little, the marks not at all."""
        ids: list[int] = []
        weights: list[float] = []
        for message in chat.messages():
            header = [self._start, *self._encode(message["role"] + "\n")]
            body = [*self._encode(message["content"]), self._end]
            weight = 1.0 if message["role"] == "assistant" else USER_WEIGHT
            ids += header + body + self._newline
            weights += [0.0] * len(header) + [weight] * len(body) + [0.0] * len(self._newline)
        return _example(ids, weights)

    def document(self, text: str) -> Example:
        """Plain text between two end-of-text marks."""
        body = [*self._encode(text), self._stop]
        return _example([self._stop, *body], [0.0] + [0.7] * len(body))


def _example(ids: list[int], weights: list[float]) -> Example:
    return Example(np.asarray(ids[:CONTEXT], np.int64), np.asarray(weights[:CONTEXT], np.float32))


def tokenizer_texts(seed: int, count: int) -> Iterator[str]:
    """Texts on which the tokenizer is trained."""
    rng = Random(seed)
    sampler = Sampler(rng)
    for number in range(count):
        if number % 20 == 0:
            yield document(rng)
        for message in sampler.conversation().messages():
            yield f"{message['role']}\n"
            yield message["content"]


def examples(encoder: Encoder, seed: int, tokens: int) -> list[Example]:
    """Examples of about ``tokens`` tokens in all, in the order they were drawn."""
    rng = Random(seed)
    sampler = Sampler(rng)
    result: list[Example] = []
    total = 0
    while total < tokens:
        draw = rng.random()
        if draw < LONG_SHARE:
            example = encoder.conversation(sampler.with_turns(rng.randint(20, 75)))
        elif draw < LONG_SHARE + DOCUMENT_SHARE:
            example = encoder.document(document(rng))
        else:
            example = encoder.conversation(sampler.conversation())
        result.append(example)
        total += len(example.ids)
    return result


def batches(items: list[Example], seed: int, batch_tokens: int) -> list[list[Example]]:
    """Groups of similar length with at most ``batch_tokens`` padded tokens, in random order."""
    rng = Random(seed)
    pool = 64 * batch_tokens // 80
    groups: list[list[Example]] = []
    for begin in range(0, len(items), pool):
        part = sorted(items[begin : begin + pool], key=lambda e: len(e.ids))
        part_groups: list[list[Example]] = [[]]
        for example in part:
            if (len(part_groups[-1]) + 1) * len(example.ids) > batch_tokens and part_groups[-1]:
                part_groups.append([])
            part_groups[-1].append(example)
        rng.shuffle(part_groups)
        groups += part_groups
    return groups
