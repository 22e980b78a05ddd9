"""The states of one reply, some of them brought by an earlier step that carried a draft.

A state depends on nothing but the tokens up to it, so a state that came back for a draft is the
one that a step of its own would have brought, as long as what was chosen since is what the draft
said. Nothing is decided here: whoever asks chooses from each state as if it had just come.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.generation.extended import Extended
from split_client.generation.sequence import Sequence
from split_client.generation.speculation.drafter import Drafter
from split_client.generation.speculation.drafts import NO_DRAFT, Draft, StepCost
from split_wire.attention import AttentionRequest, AttentionWeights

# Steps with more rows are prefills, whose times tell nothing of the next token's.
_LONGEST_TIMED = 64

Permitted = Callable[[list[int]], int]


@dataclass(frozen=True, slots=True)
class Step:
    """What was sent for a state: of its rows so many were the ``prompt``'s, and ``drafted``."""

    extended: Extended
    prompt: int
    drafted: int


@dataclass(frozen=True, slots=True)
class State:
    """``hidden`` float32 [H] after the tokens so far; ``step``: the one that was taken for it, None
    where an earlier one had brought it. ``attention`` comes with a step of its own only.
    """

    hidden: NDArray[np.float32]
    step: Step | None = None
    attention: AttentionWeights | None = None


@dataclass(slots=True)
class _Brought:
    """The states after the first ``known`` tokens and after each one of ``ahead``, [1 + n, H], as
    ``adapter`` made them. ``draft`` is the end of ``ahead``, and ``taken`` of it came so far.
    ``steps``: those of the sequence by then; after another one its cache holds something else.
    """

    states: NDArray[np.float32]
    known: int
    ahead: tuple[int, ...]
    draft: Draft
    adapter: str | None
    steps: int
    taken: int = 0


class Lookahead:
    """``tokens``: those of ``prompt`` and, as they are taken, of the reply.

    ``drafter`` None: nothing is guessed. ``attention``: which attention each state brings; it is
    watched at the last row of a step, so every step has one then. ``clock`` in seconds.
    """

    def __init__(
        self,
        sequence: Sequence,
        prompt: list[int],
        drafter: Drafter | None = None,
        attention: AttentionRequest | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.tokens = list(prompt)
        self._prompt = len(prompt)
        self._sequence = sequence
        self._drafter = drafter if attention is None else None
        self._attention = attention
        self._clock = clock
        self._brought: _Brought | None = None

    @property
    def guesses(self) -> bool:
        """Whether steps may carry drafts."""
        return self._drafter is not None

    def remaining(self, most: int) -> int | None:
        """Tokens that the reply may still have, the next one included, of ``most`` by its limits;
        None where no session tells how many positions there are.
        """
        sequence = self._sequence
        # A session that takes the place of another is opened with what it may begin with.
        again = sequence.counters.steps and not sequence.cached
        if again or not self.tokens:
            return None
        return min(most, sequence.max_context + 1 - len(self.tokens))

    def state(
        self,
        remaining: int | None = None,
        permitted: Permitted = len,
        sure: tuple[int, ...] = (),
    ) -> State:
        """The state after exactly the tokens so far.

        ``remaining`` as :meth:`remaining` tells it; None: no draft. ``permitted``: how many of the
        first tokens of a draft may follow. ``sure``: tokens that follow whatever is chosen, and
        whose states are going to be asked for. Raises what :meth:`Sequence.extend` raises.
        """
        brought, step = self._usable(), None
        if brought is None:
            brought, step = self._stepped(remaining, permitted, sure)
        hidden = brought.states[len(self.tokens) - brought.known]
        correct = self._sequence.correct
        attention = None if step is None else step.extended.attention
        return State(hidden if correct is None else correct(hidden), step, attention)

    def take(self, token: int) -> bool:
        """``token`` comes next; whether a draft said so."""
        brought, at = self._brought, len(self.tokens)
        self.tokens.append(token)
        if brought is None:
            return False
        at -= brought.known
        if at >= len(brought.ahead) or brought.ahead[at] != token:
            self._leave(wrong=True)
            return False
        guessed = at >= len(brought.ahead) - len(brought.draft.tokens)
        brought.taken += guessed
        return guessed

    def looked(self, seconds: float) -> None:
        """Choosing from a state took so long."""
        if self._drafter is not None:
            self._drafter.head(seconds)

    def close(self) -> None:
        """The reply has ended: what it was is remembered where that is wanted."""
        self._leave()
        if self._drafter is not None and len(self.tokens) > self._prompt:
            self._drafter.replied(self.tokens[: self._prompt], self.tokens[self._prompt :])

    def _usable(self) -> _Brought | None:
        """What an earlier step brought, if the cache still holds the tokens that it was for."""
        brought, sequence = self._brought, self._sequence
        if brought is None or len(self.tokens) > brought.known + len(brought.ahead):
            return None
        moved = sequence.counters.steps != brought.steps or not sequence.cached
        return None if moved or brought.adapter != sequence.adapter else brought

    def _stepped(
        self, remaining: int | None, permitted: Permitted, sure: tuple[int, ...]
    ) -> tuple[_Brought, Step]:
        self._leave()
        sequence, known = self._sequence, len(self.tokens)
        draft = NO_DRAFT if sure else self._draft(remaining, permitted)
        ahead = (*sure, *draft.tokens)
        began, resends = self._clock(), sequence.counters.resends
        extended = sequence.cache([*self.tokens, *ahead], self._attention, 1 + len(ahead))
        if sequence.counters.resends == resends:
            self._tell(extended, 1 + len(ahead), self._clock() - began)
        self._brought = _Brought(
            extended.states, known, ahead, draft, sequence.adapter, sequence.counters.steps
        )
        first = known + len(ahead) - extended.rows
        prompt = max(0, self._prompt - first)
        return self._brought, Step(extended, prompt, len(draft.tokens))

    def _draft(self, remaining: int | None, permitted: Permitted) -> Draft:
        if self._drafter is None:
            return NO_DRAFT
        most = 0 if remaining is None else max(0, self._most(remaining))
        # Also where there is room for none, so that the drafter follows the tokens.
        return self._drafter.draft(self.tokens, most, permitted).first(most)

    def _most(self, remaining: int) -> int:
        """Rows that a draft may have where so many tokens may still be chosen."""
        interactive, count = self._sequence.interactive_rows, len(self.tokens)
        missing = count - min(self._sequence.shared(self.tokens), count - 1)
        most = min(remaining, interactive) - 1
        # A step with more rows waits for its turn among prefills, unless it has to anyway.
        return min(most, interactive - missing) if missing <= interactive else most

    def _tell(self, extended: Extended, returned: int, seconds: float) -> None:
        if self._drafter is not None and extended.rows <= _LONGEST_TIMED:
            cost = StepCost(extended.rows, returned, seconds, extended.compute, extended.queue)
            self._drafter.stepped(cost)

    def _leave(self, *, wrong: bool = False) -> None:
        """The states of the last step are of no more use; ``wrong``: its draft went another way."""
        brought, self._brought = self._brought, None
        if brought is None or self._drafter is None:
            return
        draft = brought.draft
        if not wrong:
            # Of what was not reached nobody knows whether it was right.
            draft = draft.first(brought.taken)
        if draft.tokens:
            self._drafter.judged(draft, brought.taken)
