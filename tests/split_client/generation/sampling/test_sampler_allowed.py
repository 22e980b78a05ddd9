"""Choices among allowed and not banned tokens, against the definition over all logits."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_client.generation.errors import (
    InvalidSamplingParameter,
    NothingAllowed,
    TokenIdOutOfRange,
)
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.spec import HeadSpec
from split_client.generation.sampling import token_set
from split_client.generation.sampling.draw import uniform
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.processors import adjusted, affected_tokens
from split_client.generation.sampling.sampler import Sampler
from tests.split_client.generation.sampling.test_sampler import (
    ALL_PARAMS,
    PROMPT,
    REPLY,
    ROWS,
    heads,
    peaked,
)

__all__ = ["heads"]
Heads = tuple[ExactLMHead, ExactLMHead]


@pytest.fixture(autouse=True)
def few_are_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_set, "FEW", 40)


def expected(
    head: ExactLMHead,
    params: SamplingParams,
    hidden: np.ndarray,
    draw: int,
    allowed: np.ndarray,
) -> tuple[int, float]:
    """The definition: all logits, the others out, one sort, the filters one by one."""
    logits = head.logits(hidden).astype(np.float64)
    affected = affected_tokens(params, PROMPT, REPLY)
    logits[affected.ids] = adjusted(params, affected, logits[affected.ids].astype(np.float32))
    ids = [i for i in range(ROWS) if allowed[i] and i not in params.banned]
    ids.sort(key=lambda i: (-logits[i], i))
    if params.temperature == 0:
        return ids[0], 1.0
    ids = ids[: params.top_k or None]
    weights = np.exp((logits[ids] - logits[ids[0]]) / params.temperature)
    if params.top_p < 1:
        before = np.concatenate([[0.0], np.cumsum(weights)[:-1]])
        weights = weights[before < params.top_p * weights.sum()]
    weights = weights[weights >= params.min_p * weights[0]]
    index = int(np.argmax(np.cumsum(weights) > uniform(params.seed or 0, draw) * weights.sum()))
    return ids[index], float(weights[index] / weights.sum())


@pytest.mark.parametrize("share", [0.001, 0.01, 0.2, 0.7, 0.99, 1.0])
@pytest.mark.parametrize("name", ALL_PARAMS)
def test_only_allowed_tokens_take_part(heads: Heads, name: str, share: float) -> None:
    params = SamplingParams(**ALL_PARAMS[name], seed=1)
    samplers = [Sampler(head, params) for head in heads]
    rng = np.random.default_rng(7)
    for draw in range(25):
        hidden = peaked(heads[0], draw, 0.5)
        allowed = rng.random(ROWS) < share
        allowed[rng.integers(ROWS)] = True
        token, probability = expected(heads[1], params, hidden, draw, allowed)
        for sampler in samplers:
            choice = sampler.choose(hidden, PROMPT, REPLY, draw, allowed)
            assert choice.token_id == token
            if name != "no filter":
                assert choice.probability == pytest.approx(probability, rel=0.05)


@pytest.mark.parametrize("count", [1, 30, 300, 1_500, ROWS - 5])
@pytest.mark.parametrize("name", ALL_PARAMS)
def test_banned_tokens_are_never_chosen(heads: Heads, name: str, count: int) -> None:
    # The most likely ones are banned, so that whole prefixes of the ranking are.
    hidden = peaked(heads[0], 3, 0.8)
    order = np.argsort(-heads[1].logits(hidden), kind="stable")
    banned = frozenset(order[:count].tolist())
    params = SamplingParams(**ALL_PARAMS[name], seed=1, banned=banned)
    for head in heads:
        sampler = Sampler(head, params)
        for draw in range(12):
            token, _ = expected(heads[1], params, hidden, draw, np.ones(ROWS, np.bool_))
            choice = sampler.choose(hidden, PROMPT, REPLY, draw)
            assert choice.token_id == token
            assert token not in banned


def test_a_bias_and_penalties_do_not_bring_a_banned_token_back(heads: Heads) -> None:
    params = SamplingParams(
        logit_bias={8: 100.0}, repetition_penalty=0.1, presence_penalty=-2.0, banned=frozenset({8})
    )
    for head in heads:
        assert Sampler(head, params).choose(peaked(head, 1, 1.0), [8], [8] * 9, 0).token_id != 8


def test_banned_and_allowed_hold_together(heads: Heads) -> None:
    allowed = np.zeros(ROWS, np.bool_)
    allowed[[4, 9]] = True
    sampler = Sampler(heads[0], SamplingParams(temperature=2.0, banned=frozenset({4})))
    chosen = {sampler.choose(peaked(heads[0], i, 0.1), [], [], i, allowed)[0] for i in range(20)}
    assert chosen == {9}
    allowed[9] = False
    with pytest.raises(NothingAllowed):
        sampler.choose(peaked(heads[0], 0, 0.1), [], [], 0, allowed)


def test_nothing_allowed_and_foreign_banned_tokens_are_refused(heads: Heads) -> None:
    sampler = Sampler(heads[0], SamplingParams())
    with pytest.raises(NothingAllowed):
        sampler.choose(np.ones(32, np.float32), [], [], 0, np.zeros(ROWS, np.bool_))
    with pytest.raises(NothingAllowed):
        Sampler(heads[0], SamplingParams(banned=frozenset(range(ROWS))))
    with pytest.raises(TokenIdOutOfRange):
        Sampler(heads[0], SamplingParams(banned=frozenset({ROWS})))
    with pytest.raises(InvalidSamplingParameter):
        SamplingParams(banned=frozenset({-1}))


def counted_logits(head: ExactLMHead, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    full: list[Any] = []
    plain = ExactLMHead(head.rows, HeadSpec())
    monkeypatch.setattr(head, "logits", lambda hidden: full.append(1) or plain.logits(hidden))
    return full


@pytest.mark.parametrize("share", [0.01, 0.4, 0.99])
@pytest.mark.parametrize("name", ["greedy", "top-p"])
def test_peaked_choices_among_the_allowed_spare_all_logits(
    heads: Heads, name: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = counted_logits(heads[0], monkeypatch)
    sampler = Sampler(heads[0], SamplingParams(**ALL_PARAMS[name], seed=1))
    rng = np.random.default_rng(5)
    for draw in range(30):
        hidden = peaked(heads[0], draw, 1.5)
        allowed = rng.random(ROWS) < share
        allowed[int(np.argmax(heads[1].logits(hidden)))] = True
        sampler.choose(hidden, [], [], draw, allowed)
    assert len(full) <= 6


def test_equal_logits_go_to_the_lowest_allowed_id(tmp_path: Path) -> None:
    from tests.split_client.generation.weights import open_screen, write_rows

    weights = np.zeros((300, 8), np.float32)
    weights[[250, 41, 130]] = 1
    rows = write_rows(tmp_path / "w", weights)
    head = ExactLMHead(rows, HeadSpec(), open_screen(tmp_path, rows))
    allowed = np.arange(300) > 41
    choice = Sampler(head, SamplingParams()).choose(np.ones(8, np.float32), [], [], 0, allowed)
    assert choice.token_id == 130
