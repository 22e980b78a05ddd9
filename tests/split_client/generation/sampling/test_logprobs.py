from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_client.generation.errors import InvalidSamplingParameter, TokenIdOutOfRange
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_client.generation.sampling.logprobs import check_top_logprobs, token_logprobs
from tests.split_client.generation.weights import open_screen, write_rows

ROWS, HIDDEN = 30_000, 64
BIAS = np.random.default_rng(9).standard_normal(ROWS).astype(np.float32) * 2
SPECS = {
    "plain": HeadSpec(),
    "bias": HeadSpec(bias=BIAS),
    "softcap": HeadSpec(softcap=8.0),
    "saturated softcap": HeadSpec(softcap=0.7),
    "divided": HeadSpec(scale=6.0, divide=True),
    "multiplied": HeadSpec(scale=0.0625),
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> WeightRows:
    weights = np.random.default_rng(0).standard_normal((ROWS, HIDDEN), dtype=np.float32)
    return write_rows(tmp_path_factory.mktemp("rows") / "w", weights)


def log_softmax(rows: WeightRows, spec: HeadSpec, hidden: np.ndarray) -> np.ndarray:
    """All of it in float64, from the weights on."""
    logits = rows.block(0, rows.rows).astype(np.float64) @ hidden.astype(np.float64)
    logits += 0.0 if spec.bias is None else spec.bias
    logits = logits / spec.scale if spec.divide else logits * spec.scale
    if spec.softcap is not None:
        logits = np.tanh(logits / spec.softcap) * spec.softcap
    shifted = logits - logits.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))


def state(rows: WeightRows, seed: int, strength: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    pointed = rows.take([int(rng.integers(ROWS))])[0] * strength
    return (pointed + rng.standard_normal(HIDDEN) * 0.1).astype(np.float32)


@pytest.mark.parametrize("strength", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("name", SPECS)
def test_they_are_the_log_softmax_in_float64(
    tmp_path: Path, rows: WeightRows, name: str, strength: float
) -> None:
    spec = SPECS[name]
    screened = ExactLMHead(rows, spec, open_screen(tmp_path, rows, bias=spec.bias))
    for seed in range(4):
        hidden = state(rows, seed, strength)
        expected = log_softmax(rows, spec, hidden)
        likely = int(np.argmax(expected))
        for head in (screened, ExactLMHead(rows, spec)):
            for token in (likely, 17, ROWS - 1):
                found = token_logprobs(head, hidden, token, 20)
                assert found.logprob == pytest.approx(expected[token], abs=1e-4)
                assert [value for _, value in found.top] == pytest.approx(
                    np.sort(expected)[::-1][:20].tolist(), abs=1e-4
                )
                assert all(abs(expected[i] - value) < 1e-4 for i, value in found.top)
                assert list(found.top) == sorted(found.top, key=lambda pair: (-pair[1], pair[0]))
                assert dict(found.top).get(token, found.logprob) == found.logprob


def test_a_peaked_distribution_spares_all_logits_and_a_flat_one_does_not(
    tmp_path: Path, rows: WeightRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = ExactLMHead(rows, HeadSpec(), open_screen(tmp_path, rows))
    plain = ExactLMHead(rows, HeadSpec())
    full: list[Any] = []
    monkeypatch.setattr(head, "logits", lambda hidden: full.append(1) or plain.logits(hidden))
    for seed in range(5):
        token_logprobs(head, state(rows, seed, 1.0), seed, 5)
    assert not full
    token_logprobs(head, state(rows, 0, 0.0), 0, 5)
    assert len(full) == 1


def test_none_of_the_likely_ones_may_be_asked_for(rows: WeightRows) -> None:
    found = token_logprobs(ExactLMHead(rows, HeadSpec()), state(rows, 1, 1.0), 3, 0)
    assert found.top == ()
    assert found.logprob < 0


def test_small_vocabularies_tell_all_they_have(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "w", np.eye(4, dtype=np.float32))
    found = token_logprobs(ExactLMHead(rows, HeadSpec()), np.ones(4, np.float32), 2, 20)
    assert found.top == tuple((i, pytest.approx(-np.log(4))) for i in range(4))


def test_foreign_tokens_and_counts_out_of_range_are_refused(rows: WeightRows) -> None:
    with pytest.raises(TokenIdOutOfRange):
        token_logprobs(ExactLMHead(rows, HeadSpec()), np.zeros(HIDDEN, np.float32), ROWS, 1)
    for count in (-1, 21, True, 1.0):
        with pytest.raises(InvalidSamplingParameter, match="logprobs"):
            check_top_logprobs(count)  # type: ignore[arg-type]
    for count in (None, 0, 20):
        check_top_logprobs(count)
