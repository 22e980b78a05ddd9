from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from split_client.generation.errors import InvalidHiddenState, TokenIdOutOfRange
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.spec import HeadSpec
from split_client.generation.sampling import sampler as sampler_module
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from tests.exhaustive import EXHAUSTIVE
from tests.split_client.generation.weights import open_screen, write_rows

ROWS, HIDDEN = 2_000, 32
DRAWS = 4_000 if EXHAUSTIVE else 1_000
PROMPT, REPLY = [5, 6, 7, 7, 1_999], [7, 8, 8, 300]

ALL_PARAMS: dict[str, dict[str, Any]] = {
    "greedy": {"temperature": 0.0},
    "greedy with penalties": {
        "temperature": 0.0,
        "repetition_penalty": 1.8,
        "presence_penalty": 1.5,
        "frequency_penalty": -1.0,
        "logit_bias": {3: 5.0, 8: -7.0},
    },
    "top-k": {"temperature": 1.0, "top_k": 40},
    "top-k with penalties": {
        "temperature": 0.7,
        "top_k": 20,
        "top_p": 0.9,
        "repetition_penalty": 0.8,
        "logit_bias": {9: 3.0},
    },
    "top-p": {"temperature": 0.8, "top_p": 0.9},
    "min-p": {"temperature": 1.0, "min_p": 0.05},
    "top-p and min-p with penalties": {
        "temperature": 1.2,
        "top_p": 0.95,
        "min_p": 0.01,
        "repetition_penalty": 1.3,
        "presence_penalty": 0.5,
        "logit_bias": {40: 12.0, 41: 12.0},
    },
    "no filter": {"temperature": 1.0},
}


@pytest.fixture(scope="module")
def heads(tmp_path_factory: pytest.TempPathFactory) -> tuple[ExactLMHead, ExactLMHead]:
    """The same head with and without a screen."""
    folder = tmp_path_factory.mktemp("head")
    weights = np.random.default_rng(0).standard_normal((ROWS, HIDDEN), dtype=np.float32)
    rows = write_rows(folder / "w", weights)
    screened = ExactLMHead(rows, HeadSpec(), open_screen(folder, rows))
    return screened, ExactLMHead(rows, HeadSpec())


def peaked(head: ExactLMHead, seed: int, strength: float) -> np.ndarray:
    """A state that points to a few rows, as those of a trained model do."""
    rng = np.random.default_rng(seed)
    rows = head.rows.take(rng.integers(0, ROWS, 3))
    mixed = (rng.dirichlet([1, 1, 1]) @ rows) * strength + rng.standard_normal(HIDDEN) * 0.2
    return mixed.astype(np.float32)


@pytest.mark.parametrize("name", ALL_PARAMS)
@pytest.mark.parametrize("strength", [0.0, 0.3, 1.0])
def test_screened_choices_are_those_of_all_logits(
    heads: tuple[ExactLMHead, ExactLMHead], name: str, strength: float
) -> None:
    params = SamplingParams(**ALL_PARAMS[name], seed=1)
    screened, plain = (Sampler(head, params) for head in heads)
    for draw in range(60 if EXHAUSTIVE else 25):
        hidden = peaked(heads[0], draw, strength)
        one = screened.choose(hidden, PROMPT, REPLY, draw)
        other = plain.choose(hidden, PROMPT, REPLY, draw)
        assert one.token_id == other.token_id
        assert one.probability == pytest.approx(other.probability, rel=0.05, abs=1e-6)


@pytest.mark.parametrize("temperature", [1e-40, 1e-310, 5e-324])
@pytest.mark.parametrize("options", [{}, {"top_p": 0.9}, {"top_k": 40}, {"logit_bias": {3: 1.0}}])
def test_a_temperature_below_what_float32_holds_is_as_good_as_greedy(
    heads: tuple[ExactLMHead, ExactLMHead], temperature: float, options: dict[str, Any]
) -> None:
    warm = SamplingParams(temperature=temperature, seed=1, **options)
    for head in heads:
        for draw in range(3):
            hidden = peaked(head, draw, 0.5)
            chosen = Sampler(head, warm).choose(hidden, PROMPT, REPLY, draw)
            greedy = Sampler(head, SamplingParams(**options)).choose(hidden, PROMPT, REPLY, draw)
            assert chosen.token_id == greedy.token_id
            assert chosen.probability == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["top-p", "min-p", "top-p and min-p with penalties", "no filter"])
def test_peaked_distributions_are_drawn_without_all_logits(
    heads: tuple[ExactLMHead, ExactLMHead], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = []
    monkeypatch.setattr(
        heads[0], "logits", lambda hidden: full.append(1) or heads[1].logits(hidden)
    )
    sampler = Sampler(heads[0], SamplingParams(**ALL_PARAMS[name], seed=1))
    for draw in range(50):
        sampler.choose(peaked(heads[0], draw, 1.0), PROMPT, REPLY, draw)
    assert len(full) <= 10  # a draw from the far tail cannot be decided otherwise


def test_a_flat_distribution_needs_all_logits(
    heads: tuple[ExactLMHead, ExactLMHead], monkeypatch: pytest.MonkeyPatch
) -> None:
    full = []
    monkeypatch.setattr(
        heads[0], "logits", lambda hidden: full.append(1) or heads[1].logits(hidden)
    )
    sampler = Sampler(heads[0], SamplingParams(temperature=50.0, seed=1))
    for draw in range(20):
        sampler.choose(peaked(heads[0], draw, 0.1), PROMPT, REPLY, draw)
    assert len(full) >= 10


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    temperature=st.floats(0.2, 2),
    top_k=st.integers(1, 60),
    top_p=st.floats(0.1, 1),
    min_p=st.floats(0, 0.2),
    penalty=st.floats(0.7, 1.7),
)
def test_the_token_has_the_probability_that_hugging_face_gives_it(
    heads: tuple[ExactLMHead, ExactLMHead],
    seed: int,
    temperature: float,
    top_k: int,
    top_p: float,
    min_p: float,
    penalty: float,
) -> None:
    params = SamplingParams(temperature, top_k, top_p, min_p, penalty, seed=seed)
    hidden = peaked(heads[0], seed, 0.5)
    processors = LogitsProcessorList(
        [
            RepetitionPenaltyLogitsProcessor(penalty),
            TemperatureLogitsWarper(temperature),
            TopKLogitsWarper(top_k),
            TopPLogitsWarper(top_p),
            MinPLogitsWarper(min_p),
        ]
    )
    scores = torch.from_numpy(heads[1].logits(hidden)).double()[None]
    expected = processors(torch.tensor([PROMPT + REPLY]), scores)[0].softmax(0)
    choice = Sampler(heads[0], params).choose(hidden, PROMPT, REPLY, 0)
    assert choice.probability == pytest.approx(float(expected[choice.token_id]), rel=1e-6)


@pytest.mark.parametrize("name", ["top-k with penalties", "top-p and min-p with penalties"])
def test_many_draws_follow_the_float64_distribution(
    heads: tuple[ExactLMHead, ExactLMHead], name: str
) -> None:
    hidden = peaked(heads[0], 3, 0.4)
    sampler = Sampler(heads[0], SamplingParams(**ALL_PARAMS[name], seed=11))
    choices = [sampler.choose(hidden, PROMPT, REPLY, draw) for draw in range(DRAWS)]
    probabilities = {choice.token_id: choice.probability for choice in choices}
    common = {token: p for token, p in probabilities.items() if p * len(choices) >= 5}
    drawn = np.array([choice.token_id for choice in choices])
    observed = np.array([(drawn == token).sum() for token in common])
    expected = np.array(list(common.values())) * len(choices)
    observed = np.append(observed, len(choices) - observed.sum())
    expected = np.append(expected, max(len(choices) - expected.sum(), 1e-9))
    if expected[-1] < 5:
        observed, expected = observed[:-1], expected[:-1]
    chi_square = float(((observed - expected) ** 2 / expected).sum())
    freedom = observed.size - 1
    assert freedom >= 2
    # Mean and deviation of chi-square; five deviations for fixed seeds.
    assert abs(chi_square - freedom) < 5 * np.sqrt(2 * freedom)


def test_a_seed_reproduces_and_another_differs(heads: tuple[ExactLMHead, ExactLMHead]) -> None:
    hidden = peaked(heads[0], 1, 0.2)

    def tokens(seed: int) -> list[int]:
        sampler = Sampler(heads[0], SamplingParams(temperature=1.0, top_k=50, seed=seed))
        return [sampler.choose(hidden, [], [], draw).token_id for draw in range(20)]

    assert tokens(4) == tokens(4)
    assert tokens(4) != tokens(5)


def test_without_a_seed_one_is_drawn_and_can_be_shown(
    heads: tuple[ExactLMHead, ExactLMHead], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampler_module.secrets, "randbits", lambda bits: 2**bits - 3)
    sampler = Sampler(heads[0], SamplingParams(temperature=1.0, top_k=5))
    assert sampler.seed == sampler.params.seed == 2**64 - 3
    again = Sampler(heads[0], SamplingParams(temperature=1.0, top_k=5, seed=sampler.seed))
    hidden = peaked(heads[0], 2, 0.2)
    assert sampler.choose(hidden, [], [], 9) == again.choose(hidden, [], [], 9)


@pytest.mark.parametrize("temperature", [0.0, 5e-324, 1e-9])
def test_equal_logits_go_to_the_lowest_id(tmp_path: Path, temperature: float) -> None:
    weights = np.zeros((300, 8), np.float32)
    weights[[250, 41, 130]] = 1
    rows = write_rows(tmp_path / "w", weights)
    head = ExactLMHead(rows, HeadSpec(), open_screen(tmp_path, rows))
    params = SamplingParams(temperature=temperature, top_k=1)
    hidden = np.ones(8, np.float32)
    assert Sampler(head, params).choose(hidden, [], [], 0).token_id == 41
    penalised = SamplingParams(temperature=temperature, top_k=1, logit_bias={41: -1, 200: 8.0})
    assert Sampler(head, penalised).choose(hidden, [], [], 0).token_id == 130


def test_bad_states_and_foreign_tokens_are_refused(
    heads: tuple[ExactLMHead, ExactLMHead],
) -> None:
    with pytest.raises(InvalidHiddenState):
        Sampler(heads[0], SamplingParams()).choose(np.full(HIDDEN, np.nan, np.float32), [], [], 0)
    foreign = SamplingParams(logit_bias={ROWS: 1.0})
    with pytest.raises(TokenIdOutOfRange):
        Sampler(heads[0], foreign).choose(np.ones(HIDDEN, np.float32), [], [], 0)
