"""A model whose states do not depend on the length of a step, and the plain loop as its oracle."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from split_client.generation.backend import CacheLost, StepOutput
from split_client.generation.detokenizer import Detokenizer
from split_client.generation.loop import Event, Finished, Limits, TokenEvent
from split_client.generation.sampling.logprobs import token_logprobs
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.stops import StopFilter

VOCABULARY, WIDTH = 24, 8
END = 0
CONTEXT = 160
# Of the tokens; the last ones are bytes of a character each.
_TEXTS = ["", *"abcdefghij", "ab", "ba", "cd", " ", " a", " b", "xyz", ".", "\n"]
_BYTES = [b"\xe2", b"\x82", b"\xac", b"\xc3"]


class Texts:
    """A decoder; a character may be spread over tokens."""

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        return b"".join(map(_bytes, ids)).decode("utf-8", "replace")


def _bytes(token: int) -> bytes:
    if token < len(_TEXTS):
        return _TEXTS[token].encode()
    return _BYTES[token - len(_TEXTS)]


@lru_cache(maxsize=100_000)
def _state(tail: tuple[int, ...], adapter: str | None) -> NDArray[np.float32]:
    rng = np.random.default_rng([*(token + 1 for token in tail), len(adapter or "")])
    return rng.normal(size=WIDTH).astype(np.float32) * 2


def state_after(tokens: list[int], adapter: str | None = None) -> NDArray[np.float32]:
    """Of the last tokens, so that replies come back to where they were, but not for ever."""
    tail = tokens[-2:] if len(tokens) % 5 else tokens[-4:]
    return _state(tuple(tail), adapter)


def embed(tokens: list[int]) -> NDArray[np.float32]:
    return np.asarray(tokens, np.float32)[:, None]


@dataclass
class RowBackend:
    """``chance`` decides at which steps the session is lost, before the step or with its answer."""

    chance: Callable[[], float] = lambda: 1.0
    lost: float = 0.0
    max_rows: int = 7
    max_context: int = CONTEXT
    interactive_rows: int = 16
    dtype: str = "f32"
    cached: list[int] = field(default_factory=list)
    steps: list[tuple[int, int, int]] = field(default_factory=list)
    quiet_until: int = 0

    def open(self, _: object = None) -> None:
        pass

    def held(self, _: object, start: int) -> int:
        return start

    def step(
        self,
        start: int,
        embeddings: NDArray[np.float32],
        attention: object = None,
        adapter: str | None = None,
        rows: int = 1,
    ) -> StepOutput:
        assert 0 < len(embeddings) <= self.max_rows
        assert 1 <= rows <= len(embeddings)
        if start > len(self.cached):
            raise CacheLost
        self._lose()
        self.cached[start:] = [int(row[0]) for row in embeddings]
        self._lose()
        self.steps.append((start, len(embeddings), rows))
        count = len(self.cached)
        states = [state_after(self.cached[:n], adapter) for n in range(count - rows + 1, count + 1)]
        return StepOutput(np.stack(states), 3000, 0, 50_000)

    def _lose(self) -> None:
        # Whoever sends all of it again gets through.
        if len(self.steps) > self.quiet_until and self.chance() < self.lost:
            self.cached, self.quiet_until = [], len(self.steps) + CONTEXT // self.max_rows
            raise CacheLost

    def close(self) -> None:
        self.cached = []


class Form:
    """Which tokens may follow depends on what was accepted and on what is left; often only one."""

    def __init__(self, seed: int, ends_after: int) -> None:
        self._seed, self._ends = seed, ends_after
        self.accepted: list[int] = []

    @property
    def finished(self) -> bool:
        return len(self.accepted) >= self._ends

    def allowed(self, remaining: int) -> NDArray[np.bool_] | None:
        return self._mask(self.accepted, remaining)

    def accept(self, token: int) -> None:
        self.accepted.append(token)

    def forced(self, remaining: int) -> list[int]:
        tokens: list[int] = []
        while len(tokens) < min(remaining, 12):
            mask = self._mask([*self.accepted, *tokens], remaining - len(tokens))
            if mask is None or mask.sum() != 1:
                break
            tokens.append(int(mask.argmax()))
        return tokens

    def permitted(self, tokens: list[int], remaining: int) -> int:
        for count, token in enumerate(tokens[:remaining]):
            mask = self._mask([*self.accepted, *tokens[:count]], remaining - count)
            if mask is not None and not mask[token]:
                return count
        return min(len(tokens), remaining)

    def _mask(self, accepted: list[int], remaining: int) -> NDArray[np.bool_] | None:
        rng = random.Random(f"{self._seed} {accepted[-2:]} {len(accepted) % 3} {remaining < 4}")  # noqa: S311
        if rng.random() < 0.2:
            return None
        mask = np.zeros(VOCABULARY, bool)
        mask[rng.sample(range(1, VOCABULARY), 1 if rng.random() < 0.6 else 6)] = True
        return mask


@dataclass
class Told:
    """What a reply is, as far as it must not depend on drafts."""

    ids: list[int]
    pieces: list[str]
    reason: str
    probabilities: list[float]
    logprobs: list[object]


def told(events: list[Event]) -> Told:
    tokens = [event for event in events if isinstance(event, TokenEvent)]
    last = events[-1]
    assert isinstance(last, Finished)
    return Told(
        [event.token for event in tokens],
        [event.text for event in events],
        last.reason,
        [event.probability for event in tokens],
        [event.logprobs for event in tokens],
    )


def plainly(
    sampler: Sampler,
    prompt: list[int],
    limits: Limits,
    form: Form | None,
    logprobs: int | None,
    adapter: str | None = None,
) -> Told:
    """The reply with a state and a draw for every token, and no session at all."""
    tokens, reply = list(prompt), Told([], [], "", [], [])
    detokenizer, stops = Detokenizer(Texts()), StopFilter(limits.stops)
    while not reply.reason:
        hidden = state_after(tokens, adapter)
        left = min(limits.max_tokens - len(reply.ids), CONTEXT + 1 - len(tokens))
        allowed = None if form is None else form.allowed(left)
        token, probability = sampler.choose(hidden, prompt, reply.ids, len(reply.ids), allowed)
        if form is not None:
            form.accept(token)
        likely = None if logprobs is None else token_logprobs(sampler.head, hidden, token, logprobs)
        tokens.append(token)
        reply.ids.append(token)
        reply.probabilities.append(probability)
        reply.logprobs.append(likely)
        ended = token in limits.eos_token_ids
        reply.pieces.append("" if ended else stops.push(detokenizer.push(token)))
        if ended:
            reply.reason = "eos"
        elif stops.stopped or (form is not None and form.finished):
            reply.reason = "stop"
        elif len(reply.ids) >= limits.max_tokens:
            reply.reason = "length"
        elif len(tokens) > CONTEXT:
            reply.reason = "context"
    reply.pieces.append(stops.push(detokenizer.flush()) + stops.flush())
    return reply
