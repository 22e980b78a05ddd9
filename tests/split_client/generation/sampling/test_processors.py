from collections import Counter

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import RepetitionPenaltyLogitsProcessor, SequenceBiasLogitsProcessor

from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.processors import adjusted, affected_tokens

VOCABULARY = 30
TOKENS = st.lists(st.integers(0, VOCABULARY - 1), max_size=40)
LOGITS = np.random.default_rng(0).standard_normal(VOCABULARY).astype(np.float32) * 5


def processed(params: SamplingParams, prompt: list[int], generated: list[int]) -> np.ndarray:
    affected = affected_tokens(params, prompt, generated)
    logits = LOGITS.astype(np.float64)
    logits[affected.ids] = adjusted(params, affected, LOGITS[affected.ids])
    return logits


@given(
    prompt=TOKENS.filter(bool),
    generated=TOKENS,
    penalty=st.floats(0.5, 3),
    bias=st.dictionaries(st.integers(0, VOCABULARY - 1), st.floats(-20, 20), max_size=5),
)
def test_bias_and_repetition_penalty_equal_hugging_face(
    prompt: list[int], generated: list[int], penalty: float, bias: dict[int, float]
) -> None:
    ids = torch.tensor([prompt + generated])
    scores = torch.from_numpy(LOGITS).double()[None]
    if bias:
        sequences = {(token,): value for token, value in bias.items()}
        # Its tables are float32; float64 scores keep everything else exact.
        scores = SequenceBiasLogitsProcessor(sequences)(ids, scores)
    scores = RepetitionPenaltyLogitsProcessor(penalty)(ids, scores)
    found = processed(
        SamplingParams(repetition_penalty=penalty, logit_bias=bias), prompt, generated
    )
    assert np.allclose(found, scores[0].numpy(), rtol=1e-6, atol=1e-5)


@given(prompt=TOKENS, generated=TOKENS, presence=st.floats(-2, 2), frequency=st.floats(-2, 2))
def test_presence_and_frequency_count_the_reply_only(
    prompt: list[int], generated: list[int], presence: float, frequency: float
) -> None:
    params = SamplingParams(presence_penalty=presence, frequency_penalty=frequency)
    counts = Counter(generated)
    expected = [
        float(logit) - counts[token] * frequency - (presence if counts[token] else 0.0)
        for token, logit in enumerate(LOGITS)
    ]
    assert np.allclose(processed(params, prompt, generated), expected, rtol=0, atol=1e-12)


def test_penalties_come_after_the_bias_and_one_after_the_other() -> None:
    params = SamplingParams(
        repetition_penalty=2.0,
        presence_penalty=0.5,
        frequency_penalty=0.25,
        logit_bias={3: 1.0, 4: 1.0},
    )
    affected = affected_tokens(params, [9, 3], [4, 4, 5])
    assert affected.ids.tolist() == [3, 4, 5, 9]
    logits = np.array([1.0, -3.0, 2.0, -1.0], np.float32)
    assert adjusted(params, affected, logits).tolist() == [1.0, -5.0, 0.25, -2.0]


@given(prompt=TOKENS, generated=TOKENS)
def test_without_penalties_nothing_is_affected(prompt: list[int], generated: list[int]) -> None:
    assert affected_tokens(SamplingParams(), prompt, generated).ids.size == 0


@given(prompt=TOKENS, generated=TOKENS, forbidden=st.sets(st.integers(0, VOCABULARY - 1)))
def test_forbidden_tokens_get_no_logit_whatever_else_changes_them(
    prompt: list[int], generated: list[int], forbidden: set[int]
) -> None:
    params = SamplingParams(
        repetition_penalty=2.0, frequency_penalty=-1.0, logit_bias={3: 100.0, 4: 100.0}
    )
    affected = affected_tokens(params, prompt, generated, np.array(sorted(forbidden), np.int64))
    changed = dict(
        zip(affected.ids.tolist(), adjusted(params, affected, LOGITS[affected.ids]), strict=True)
    )
    assert {token for token, logit in changed.items() if logit == -np.inf} == forbidden
    free = affected_tokens(params, prompt, generated)
    untouched = zip(free.ids.tolist(), adjusted(params, free, LOGITS[free.ids]), strict=True)
    assert all(changed[token] == logit for token, logit in untouched if token not in forbidden)


def test_the_affected_within_a_mask_are_those_whose_token_is_set() -> None:
    params = SamplingParams(presence_penalty=1.0, logit_bias={3: 1.0, 9: 2.0})
    affected = affected_tokens(params, [], [4, 4, 9])
    mask = np.zeros(VOCABULARY, np.bool_)
    mask[[4, 9, 11]] = True
    inside = affected.within(mask)
    assert inside.ids.tolist() == [4, 9]
    assert inside.counts.tolist() == [2, 1]
    assert inside.bias.tolist() == [0.0, 2.0]
