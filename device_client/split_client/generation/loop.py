"""The decode loop of Python, on devices and beside the engine: prompt in, tokens out.

The web app has one as well (``web/src/generation/loop.js``); ``tests/vectors/decoding.json`` drives
both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from split_client.generation.constraint import Constraint
from split_client.generation.detokenizer import Decoder, Detokenizer
from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.extended import Extended
from split_client.generation.sampling.logprobs import (
    TokenLogprobs,
    check_top_logprobs,
    token_logprobs,
)
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.sequence import Sequence
from split_client.generation.spared import NOTHING_SPARED, Spared
from split_client.generation.stops import StopFilter
from split_wire.attention import AttentionRequest, AttentionWeights

FinishReason: TypeAlias = Literal["eos", "stop", "length", "context", "cancelled"]


@dataclass(frozen=True, slots=True)
class Limits:
    """When a reply ends. Raises InvalidSamplingParameter."""

    eos_token_ids: frozenset[int]
    max_tokens: int
    stops: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.max_tokens, int) or self.max_tokens < 1:
            raise InvalidSamplingParameter("max_tokens", self.max_tokens, "a whole number from 1")


@dataclass(frozen=True, slots=True)
class TokenTiming:
    """Seconds for one token: ``total`` = ``device`` + ``engine`` + ``queue`` + ``wire``."""

    total: float
    engine: float
    queue: float
    wire: float

    @property
    def device(self) -> float:
        """Embedding, LM head, sampling, text."""
        return max(0.0, self.total - self.engine - self.queue - self.wire)


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """One token; ``text`` is what it makes showable, often with delay and sometimes empty.

    ``probability``: among the candidates that the sampler kept. ``rows`` were sent to get it: the
    new part of the prompt for the first token, then 1; ``restored`` of the prompt were known
    already, and not sent or not computed; ``spared`` has the whole account. ``attention``, where it
    was asked for, is that of the position before the token, which it was chosen from: over the
    prompt and the tokens of the reply before this one. ``logprobs``, where asked for, are those of
    the model alone.
    """

    token: int
    text: str
    probability: float
    rows: int
    timing: TokenTiming
    attention: AttentionWeights | None = None
    logprobs: TokenLogprobs | None = None
    restored: int = 0
    spared: Spared = NOTHING_SPARED


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a reply; ``text`` is what was still held back."""

    reason: FinishReason
    text: str


Event: TypeAlias = TokenEvent | Finished


def decode(
    sequence: Sequence,
    sampler: Sampler,
    decoder: Decoder,
    prompt: list[int],
    limits: Limits,
    *,
    attention: AttentionRequest | None = None,
    constraint: Constraint | None = None,
    logprobs: int | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Event]:
    """Continue ``prompt`` token by token until a limit; the last event is Finished.

    ``attention``: which attention each token's event brings. ``constraint``: only what it allows
    is chosen, and the reply stops when it has finished. ``logprobs``: each event tells the chosen
    token's and those of so many most likely ones (0..20). ``cancelled``: asked before the first
    token and after each.

    Raises PromptEmpty, PromptTooLong, InvalidSamplingParameter, NothingAllowed and the backend's
    errors.
    """
    check_top_logprobs(logprobs)
    tokens, generated = list(prompt), list[int]()
    detokenizer, stops = Detokenizer(decoder), StopFilter(limits.stops)
    reason: FinishReason | None = "cancelled" if cancelled() else None
    while reason is None:
        began = clock()
        extended = sequence.extend(tokens, attention)
        hidden, count, allowed = extended.hidden, len(generated), None
        if constraint is not None:
            room = sequence.max_context + 1 - len(tokens)
            allowed = constraint.allowed(min(limits.max_tokens - count, room))
        token, probability = sampler.choose(hidden, prompt, generated, count, allowed)
        if constraint is not None:
            constraint.accept(token)
        likely = None if logprobs is None else token_logprobs(sampler.head, hidden, token, logprobs)
        tokens.append(token)
        generated.append(token)
        ended = token in limits.eos_token_ids
        text = "" if ended else stops.push(detokenizer.push(token))
        timing = _timing(extended, clock() - began)
        yield TokenEvent(
            token,
            text,
            probability,
            extended.rows,
            timing,
            extended.attention,
            likely,
            extended.restored,
            extended.spared,
        )
        if ended:
            reason = "eos"
        elif stops.stopped or (constraint is not None and constraint.finished):
            reason = "stop"
        elif len(generated) >= limits.max_tokens:
            reason = "length"
        elif len(tokens) > sequence.max_context:
            reason = "context"
        elif cancelled():
            reason = "cancelled"
    yield Finished(reason, stops.push(detokenizer.flush()) + stops.flush())


def _timing(extended: Extended, total: float) -> TokenTiming:
    return TokenTiming(total, extended.compute, extended.queue, extended.wire)
