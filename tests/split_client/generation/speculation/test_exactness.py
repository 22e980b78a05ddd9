"""A reply with drafts and forced tokens is the reply without, whatever else is asked for."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from split_client.generation.errors import NothingAllowed
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_client.generation.loop import Event, Limits, TokenEvent, decode
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.sequence import Sequence
from split_client.generation.speculation.drafter import Drafter
from split_client.generation.speculation.drafts import Draft, StepCost
from split_client.generation.speculation.lookahead import Lookahead
from split_client.generation.speculation.memo import Memo
from tests.exhaustive import EXHAUSTIVE
from tests.split_client.generation.speculation.scripted import (
    END,
    VOCABULARY,
    WIDTH,
    Form,
    RowBackend,
    Texts,
    Told,
    embed,
    plainly,
    told,
)

REPLIES = 5_000 if EXHAUSTIVE else 300


@pytest.fixture(scope="module")
def head(tmp_path_factory: pytest.TempPathFactory) -> ExactLMHead:
    path = tmp_path_factory.mktemp("head") / "head.bin"
    weights = np.random.default_rng(5).normal(size=(VOCABULARY, WIDTH))
    weights.astype("<f4").tofile(path)
    return ExactLMHead(WeightRows.open(path, "f32", VOCABULARY, WIDTH), HeadSpec())


class Prophet:
    """Knows the reply, and says it with faults: drafts are right, wrong and too long by chance."""

    def __init__(self, rng: random.Random, reply: list[int], prompt: int) -> None:
        self._rng, self._reply, self._prompt = rng, reply, prompt
        self.judgements: list[tuple[int, int]] = []
        self.costs: list[StepCost] = []

    def draft(self, tokens: list[int], most: int, permitted: Callable[[list[int]], int]) -> Draft:
        at = len(tokens) - self._prompt
        guess = [*self._reply[at:], *(self._rng.randrange(VOCABULARY) for _ in range(20))]
        guess = guess[: self._rng.randrange(0, 16)][:most]
        if guess and self._rng.random() < 0.5:
            guess[self._rng.randrange(len(guess))] = self._rng.randrange(VOCABULARY)
        return Draft("prophet", tuple(guess), 1).first(permitted(guess))

    def judged(self, draft: Draft, accepted: int) -> None:
        assert 0 <= accepted <= len(draft.tokens)
        self.judgements.append((len(draft.tokens), accepted))

    def stepped(self, cost: StepCost) -> None:
        self.costs.append(cost)

    def head(self, seconds: float) -> None:
        assert seconds >= 0

    def replied(self, prompt: list[int], reply: list[int]) -> None:
        assert (len(prompt), reply) == (self._prompt, self._reply)


@dataclass(frozen=True)
class Asked:
    """One reply of a seed."""

    params: SamplingParams
    prompt: list[int]
    limits: Limits
    form: tuple[int, int] | None
    logprobs: int | None
    adapter: str | None

    def new_form(self) -> Form | None:
        return None if self.form is None else Form(*self.form)


def asked(rng: random.Random) -> Asked:
    params = SamplingParams(
        temperature=rng.choice([0.0, 0.3, 0.8, 1.5]),
        top_k=rng.choice([0, 0, 3, 10]),
        top_p=rng.choice([1.0, 0.9, 0.5]),
        min_p=rng.choice([0.0, 0.0, 0.1]),
        repetition_penalty=rng.choice([1.0, 1.0, 1.2]),
        presence_penalty=rng.choice([0.0, 0.5]),
        frequency_penalty=rng.choice([0.0, 0.0, 0.3]),
        seed=rng.getrandbits(40),
        logit_bias={rng.randrange(VOCABULARY): rng.uniform(-3, 3)},
        banned=frozenset(rng.sample(range(VOCABULARY), rng.choice([0, 0, 1, 2]))),
    )
    stops = rng.choice([(), (), (), ("ab",), ("c", "xyz"), (".\n", "a b")])
    return Asked(
        params,
        [rng.randrange(1, VOCABULARY) for _ in range(rng.choice([1, 3, 20, 90, 155]))],
        Limits(frozenset({END}), rng.choice([1, 5, 30, 60]), stops),
        (rng.getrandbits(20), rng.choice([4, 30, 100])) if rng.random() < 0.5 else None,
        rng.choice([None, None, 0, 3]),
        rng.choice([None, None, "one", "another"]),
    )


def expected(head: ExactLMHead, one: Asked) -> Told | None:
    """None where nothing is allowed at some place."""
    sampler, form = Sampler(head, one.params), one.new_form()
    try:
        return plainly(sampler, one.prompt, one.limits, form, one.logprobs, one.adapter)
    except NothingAllowed:
        return None


def guessed(
    head: ExactLMHead, one: Asked, sequence: Sequence, drafter: object, sampler: Any = Sampler
) -> list[Event]:
    sequence.adapter = one.adapter
    options: Any = {"constraint": one.new_form(), "logprobs": one.logprobs, "drafter": drafter}
    chooser = sampler(head, one.params)
    return list(decode(sequence, chooser, Texts(), one.prompt, one.limits, **options))


def over(backend: RowBackend) -> Sequence:
    return Sequence(backend, embed)  # type: ignore[arg-type]


def differs(head: ExactLMHead, seed: int, sampler: Any = Sampler) -> bool:
    """Whether a reply with drafts is another one than that without."""
    rng = random.Random(seed)  # noqa: S311
    one = asked(rng)
    wanted = expected(head, one)
    lost, most = rng.choice([0.0, 0.0, 0.03]), rng.choice([7, 16, 64])
    sequence = over(RowBackend(rng.random, lost, most))
    drafter = Prophet(rng, [] if wanted is None else wanted.ids, len(one.prompt))
    try:
        return told(guessed(head, one, sequence, drafter, sampler)) != wanted
    except NothingAllowed:
        return wanted is not None


def test_replies_with_drafts_are_the_plain_ones(head: ExactLMHead) -> None:
    assert [seed for seed in range(REPLIES) if differs(head, seed)] == []


def test_a_row_that_is_taken_one_too_late_is_noticed(
    head: ExactLMHead, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Lookahead._stepped

    def late(self: Lookahead, *args: Any) -> Any:
        brought, step = right(self, *args)
        brought.states = np.roll(brought.states, -1, axis=0)
        return brought, step

    monkeypatch.setattr(Lookahead, "_stepped", late)
    monkeypatch.setattr(Prophet, "replied", lambda *_: None)
    assert sum(differs(head, seed) for seed in range(20)) > 5


def test_draws_that_do_not_count_forced_tokens_are_noticed(
    head: ExactLMHead, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Uncounted(Sampler):
        drawn = 0

        def choose(self, hidden: Any, prompt: Any, generated: Any, index: int, *rest: Any) -> Any:
            self.drawn += 1
            return super().choose(hidden, prompt, generated, self.drawn - 1, *rest)

    monkeypatch.setattr(Prophet, "replied", lambda *_: None)
    assert any(differs(head, seed, Uncounted) for seed in range(40))


def test_the_real_sources_change_no_reply_over_many_turns_of_a_chat(head: ExactLMHead) -> None:
    rng, memo = random.Random(3), Memo()  # noqa: S311
    steps = tokens = 0
    for fixed in (None, 1, 15):
        drafter = Drafter.of_chat(memo, fixed)
        backend = RowBackend(rng.random, lost=0.01, max_rows=64)
        sequence = over(backend)
        prompt: list[int] = []
        for _ in range(REPLIES // 15):
            one = asked(rng)
            prompt = [*prompt[-80:], *one.prompt[:5]]
            one = replace(one, prompt=prompt)
            wanted = expected(head, one)
            if wanted is None:
                continue
            drafter.expect(wanted.ids if rng.random() < 0.2 else None)
            assert told(guessed(head, one, sequence, drafter)) == wanted
            prompt, tokens = prompt + wanted.ids, tokens + len(wanted.ids)
        steps += len(backend.steps)
    assert steps < tokens


def test_drafts_are_judged_once_and_by_what_came(head: ExactLMHead) -> None:
    rng = random.Random(11)  # noqa: S311
    one = replace(asked(rng), form=None, logprobs=None, limits=Limits(frozenset(), 40), prompt=[1])
    wanted = expected(head, one)
    assert wanted is not None
    drafter = Prophet(rng, wanted.ids, len(one.prompt))
    events = guessed(head, one, over(RowBackend(max_rows=99)), drafter)
    tokens = [event for event in events if isinstance(event, TokenEvent)]
    assert sum(accepted for _, accepted in drafter.judgements) == sum(e.guessed for e in tokens)
    sent = sum(event.drafted for event in tokens)
    assert sent >= sum(count for count, _ in drafter.judgements) > 0
    assert sum(cost.returned for cost in drafter.costs) == sent + len(drafter.costs)
