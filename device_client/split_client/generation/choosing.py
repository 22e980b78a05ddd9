"""The next token of a reply: the one that its form forces, or one chosen from a state."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from split_client.generation.constraint import Constraint
from split_client.generation.sampling.logprobs import TokenLogprobs, token_logprobs
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.speculation.lookahead import Lookahead, State

# So many states of forced tokens come back at a time.
_MOST_SURE = 64


@dataclass(frozen=True, slots=True)
class Chosen:
    """``state`` None: nobody asked for one. ``guessed``: a draft said so before."""

    token: int
    probability: float
    state: State | None
    logprobs: TokenLogprobs | None
    forced: bool
    guessed: bool


class Choosing:
    """The tokens of one reply, one after the other.

    ``most``: tokens that it may have, ``begun`` of them, the last of ``ahead``, being there
    already; ``logprobs``: of each chosen token and of so many most likely ones; ``steps_apart``: a
    step for each token, also for forced ones.
    """

    def __init__(
        self,
        ahead: Lookahead,
        sampler: Sampler,
        constraint: Constraint | None,
        most: int,
        logprobs: int | None = None,
        *,
        begun: int = 0,
        steps_apart: bool = False,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._ahead, self._sampler, self._constraint = ahead, sampler, constraint
        prompt = len(ahead.tokens) - begun
        self._prompt = ahead.tokens[:prompt]
        self._most = most
        self._logprobs = logprobs
        self._steps_apart = steps_apart
        self._clock = clock
        self._generated = ahead.tokens[prompt:]
        self._forced: list[int] = []

    def following(self) -> Chosen:
        """The next one. Raises NothingAllowed and the errors of a step."""
        left = self._most - len(self._generated)
        looks_ahead = self._constraint is not None or self._ahead.guesses
        remaining = self._ahead.remaining(left) if looks_ahead else None
        forced = self._next_forced(remaining)
        state: State | None
        if forced is None:
            state, token, probability = self._chosen(left, remaining)
        else:
            state, token, probability = self._state_of_forced(remaining), forced, 1.0
        likely = None
        if self._logprobs is not None and state is not None:
            likely = token_logprobs(self._sampler.head, state.hidden, token, self._logprobs)
        if self._constraint is not None:
            self._constraint.accept(token)
        self._forced = self._forced[1:]
        self._generated.append(token)
        guessed = self._ahead.take(token)
        return Chosen(token, probability, state, likely, forced is not None, guessed)

    def _next_forced(self, remaining: int | None) -> int | None:
        """What the form forces; what is banned it cannot, and nothing is left to choose then."""
        if self._constraint is None or remaining is None or remaining < 1 or self._steps_apart:
            return None
        if not self._forced:
            self._forced = list(self._constraint.forced(remaining))[:remaining]
        banned = self._sampler.params.banned
        if not self._forced or self._forced[0] in banned:
            self._forced = []
            return None
        return self._forced[0]

    def _state_of_forced(self, remaining: int | None) -> State | None:
        if self._logprobs is None or remaining is None:
            return None
        return self._ahead.state(sure=tuple(self._forced[: min(remaining - 1, _MOST_SURE)]))

    def _chosen(self, left: int, remaining: int | None) -> tuple[State, int, float]:
        """From the state after the tokens so far, of which ``left`` may still follow."""
        permitted = len if self._constraint is None else self._permitted(remaining)
        state = self._ahead.state(remaining, permitted)
        began, allowed = self._clock(), None
        if self._constraint is not None:
            # With the step there is a session that knows.
            known = self._ahead.remaining(left) if remaining is None else remaining
            allowed = self._constraint.allowed(left if known is None else known)
        index = len(self._generated)
        token, probability = self._sampler.choose(
            state.hidden, self._prompt, self._generated, index, allowed
        )
        self._ahead.looked(self._clock() - began)
        return state, token, probability

    def _permitted(self, remaining: int | None) -> Callable[[list[int]], int]:
        constraint = self._constraint
        if constraint is None or remaining is None:
            return len
        return lambda tokens: constraint.permitted(tokens, remaining)
