"""The decode loop of Python, on devices and beside the engine: prompt in, tokens out.

The web app has one as well (``web/src/generation/loop.js``); ``tests/vectors/decoding.json`` drives
both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from split_client.generation.choosing import Choosing, Chosen
from split_client.generation.constraint import Constraint
from split_client.generation.detokenizer import Decoder, Detokenizer
from split_client.generation.errors import InvalidSamplingParameter
from split_client.generation.sampling.logprobs import TokenLogprobs, check_top_logprobs
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.sequence import Sequence
from split_client.generation.spared import NOTHING_SPARED, Spared
from split_client.generation.speculation.drafter import Drafter
from split_client.generation.speculation.drafts import NO_DRAFT
from split_client.generation.speculation.lookahead import Lookahead
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

    ``probability``: among the candidates that the sampler kept. ``rows`` were sent to get it, 0
    where an earlier step had brought its state or none was needed; of these so many were
    ``drafted``, a guess of ``draft_source`` at what follows, and ``prompt_rows`` the prompt's.
    ``guessed``: a draft had said so; ``forced``: its constraint allowed no other. Of tokens from
    one step, the first has its time. ``restored`` of the prompt were known already, and not sent or
    not computed; ``spared`` has the whole account. ``attention``, where it was asked for, is that
    of the position before the token, which it was chosen from: over the prompt and the tokens of
    the reply before this one. ``logprobs``, where asked for, are those of the model alone.
    ``hidden``: the state [H] that it was chosen from, None where the form left no choice.
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
    drafted: int = 0
    prompt_rows: int = 0
    guessed: bool = False
    forced: bool = False
    draft_source: str = NO_DRAFT.source
    hidden: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)

    @property
    def prompt_computed(self) -> int:
        """Rows of the prompt that had to be computed for it."""
        return max(0, self.prompt_rows - self.spared.reused)


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a reply; ``text`` is what was still held back, ``stop`` the stop text that ended
    it.
    """

    reason: FinishReason
    text: str
    stop: str = ""


Event: TypeAlias = TokenEvent | Finished


def decode(
    sequence: Sequence,
    sampler: Sampler,
    decoder: Decoder,
    prompt: list[int],
    limits: Limits,
    *,
    begun: list[int] | None = None,
    attention: AttentionRequest | None = None,
    constraint: Constraint | None = None,
    logprobs: int | None = None,
    drafter: Drafter | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Event]:
    """Continue ``prompt`` token by token until a limit; the last event is Finished.

    ``begun``: the first tokens of the reply, which are there already: what follows is what would
    have followed them, draws and penalties included. ``limits`` count what is new, and
    ``constraint`` has accepted them. ``attention``: which attention each token's event brings;
    every token has a step of its own then. ``constraint``: only what it allows is chosen, what it
    forces is taken without asking for a state, and the reply stops when it has finished.
    ``logprobs``: each event tells the chosen token's and those of so many most likely ones (0..20).
    ``drafter``: guesses what follows, which changes no token and no number, only how many of them
    one step brings. ``cancelled``: asked before the first token and after each.

    Raises PromptEmpty, PromptTooLong, InvalidSamplingParameter, NothingAllowed and the backend's
    errors.
    """
    check_top_logprobs(logprobs)
    start = begun or []
    ahead = Lookahead(sequence, [*prompt, *start], drafter, attention, clock)
    choosing = Choosing(
        ahead,
        sampler,
        constraint,
        len(start) + limits.max_tokens,
        logprobs,
        begun=len(start),
        steps_apart=attention is not None,
        clock=clock,
    )
    detokenizer, stops = Detokenizer(decoder), StopFilter(limits.stops)
    for token in start:
        detokenizer.push(token)
    reason: FinishReason | None = "cancelled" if cancelled() else None
    if start and reason is None:
        reason = _ended(start[-1], limits, constraint)
    count = 0
    while reason is None:
        began = clock()
        chosen = choosing.following()
        count += 1
        ended = chosen.token in limits.eos_token_ids
        text = "" if ended else stops.push(detokenizer.push(chosen.token))
        yield _event(chosen, text, clock() - began)
        if ended:
            reason = "eos"
        elif stops.stopped or (constraint is not None and constraint.finished):
            reason = "stop"
        elif count >= limits.max_tokens:
            reason = "length"
        elif len(ahead.tokens) > sequence.max_context:
            reason = "context"
        elif cancelled():
            reason = "cancelled"
    ahead.close()
    yield Finished(reason, stops.push(detokenizer.flush()) + stops.flush(), stops.matched)


def _ended(last: int, limits: Limits, constraint: Constraint | None) -> FinishReason | None:
    """Why nothing follows a reply that is there up to ``last``."""
    if last in limits.eos_token_ids:
        return "eos"
    return "stop" if constraint is not None and constraint.finished else None


def _event(chosen: Chosen, text: str, total: float) -> TokenEvent:
    state = chosen.state
    step, hidden = (None, None) if state is None else (state.step, state.hidden)
    if step is None:
        return TokenEvent(
            chosen.token,
            text,
            chosen.probability,
            0,
            TokenTiming(total, 0.0, 0.0, 0.0),
            logprobs=chosen.logprobs,
            guessed=chosen.guessed,
            forced=chosen.forced,
            hidden=hidden,
        )
    extended = step.extended
    return TokenEvent(
        chosen.token,
        text,
        chosen.probability,
        extended.rows,
        TokenTiming(total, extended.compute, extended.queue, extended.wire),
        extended.attention,
        chosen.logprobs,
        extended.restored,
        extended.spared,
        step.drafted,
        step.prompt,
        chosen.guessed,
        chosen.forced,
        step.source,
        hidden,
    )
