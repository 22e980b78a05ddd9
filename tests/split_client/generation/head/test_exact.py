import logging
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from split_client.generation.errors import (
    InvalidHeadSpec,
    InvalidHiddenState,
    NonFiniteLogits,
    TokenIdOutOfRange,
)
from split_client.generation.head import exact as lm_head
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_wire.floats import FloatName
from tests.exhaustive import EXHAUSTIVE
from tests.split_client.generation.weights import open_screen, reference_top, write_rows

ROWS, HIDDEN = 3_001, 64
ALSO: tuple[tuple[int, ...], ...] = ((), (2, 7, 510, 3_000))
STATES = 12 if EXHAUSTIVE else 5

SPECS = {
    "plain": HeadSpec(),
    "bias": HeadSpec(bias=np.random.default_rng(9).standard_normal(ROWS).astype(np.float32) * 4),
    "softcap": HeadSpec(softcap=30.0),
    "saturated softcap": HeadSpec(softcap=0.7),
    "divided": HeadSpec(scale=6.0, divide=True),
    "multiplied": HeadSpec(scale=0.0625),
}


def assert_exact(
    head: ExactLMHead, hidden: np.ndarray, *asked: tuple[int, tuple[int, ...]]
) -> None:
    """``top`` of each (k, also) equals a full sort of all logits, and those equal float64."""
    full = ExactLMHead(head.rows, head.spec).logits(hidden)
    for k, also in asked:
        ids, logits = reference_top(full, k, also)
        found = head.top(hidden, k, also)
        assert found.ids.tolist() == ids
        assert found.logits.tolist() == logits
        assert found.also_logits.tolist() == [full[i] for i in also]
    wide = head.rows.block(0, head.rows.rows).astype(np.float64)
    scale = np.abs(wide) @ np.abs(hidden).astype(np.float64)
    if head.spec.softcap is None and head.spec.bias is None:
        factor = 1 / head.spec.scale if head.spec.divide else head.spec.scale
        error = np.abs(full - wide @ hidden.astype(np.float64) * factor)
        assert (error <= scale * factor * HIDDEN * 2.0**-23).all()


@pytest.fixture(scope="module", params=["bf16", "f16", "f32"])
def rows(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> WeightRows:
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((ROWS, HIDDEN), dtype=np.float32)
    weights *= 2 ** rng.uniform(-3, 3, (ROWS, 1)).astype(np.float32)
    weights[500:520] = weights[7]
    weights[600:610] = 0
    weights[700:710] = 1
    weights[800] = 0
    weights[800, 3] = 400
    dtype: FloatName = request.param
    return write_rows(tmp_path_factory.mktemp("rows") / "w", weights, dtype)


@pytest.mark.parametrize("tile", [128, 3072])
@pytest.mark.parametrize("name", SPECS)
def test_the_top_equals_a_full_sort(tmp_path: Path, rows: WeightRows, name: str, tile: int) -> None:
    spec = SPECS[name]
    head = ExactLMHead(rows, spec, open_screen(tmp_path, rows, tile=tile, bias=spec.bias))
    rng = np.random.default_rng(1)
    states = [rng.standard_normal(HIDDEN, dtype=np.float32) for _ in range(STATES)]
    states += [rows.take([7])[0], np.zeros(HIDDEN, np.float32), np.eye(HIDDEN, dtype="f4")[3]]
    for hidden in states:
        assert_exact(head, hidden, *((k, also) for k in (1, 50, 400) for also in ALSO))
    assert head.screened


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(0, 40), levels=st.integers(1, 4))
def test_rows_full_of_ties_rank_by_id(
    tmp_path_factory: pytest.TempPathFactory, seed: int, k: int, levels: int
) -> None:
    rng = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("ties")
    rows = write_rows(folder / "w", rng.integers(-levels, levels + 1, (200, 5)).astype(np.float32))
    head = ExactLMHead(rows, HeadSpec(), open_screen(folder, rows))
    also = tuple(rng.choice(200, 5, replace=False).tolist())
    assert_exact(head, rng.integers(-levels, levels + 1, 5).astype(np.float32), (k, also))


def test_more_than_there_is_gives_all_that_is_left(tmp_path: Path, rows: WeightRows) -> None:
    head = ExactLMHead(rows, HeadSpec(), open_screen(tmp_path, rows))
    hidden = np.ones(HIDDEN, np.float32)
    assert head.top(hidden, ROWS + 5, also=(1, 1, 2)).ids.size == ROWS - 2
    everything = head.top(hidden, 10, also=range(ROWS))
    assert everything.ids.size == 0
    assert np.array_equal(everything.also_logits, head.logits(hidden))
    assert head.top(hidden, 0).ids.size == 0


def test_a_screen_spares_most_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = write_rows(tmp_path / "w", rng.standard_normal((30_000, 256), dtype=np.float32))
    head = ExactLMHead(rows, HeadSpec(), open_screen(tmp_path, rows))
    taken = []

    def counting_take(ids: np.ndarray) -> np.ndarray:
        taken.append(ids.size)
        return WeightRows.take(rows, ids)

    rows.take = counting_take  # type: ignore[method-assign]
    hidden = rng.standard_normal(256, dtype=np.float32)
    assert head.top(hidden, 50).ids.size == 50
    assert 50 <= sum(taken) < 300


def test_a_screen_that_breaks_its_bound_is_abandoned_and_the_answer_is_right(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rng = np.random.default_rng(3)
    weights = rng.standard_normal((500, HIDDEN), dtype=np.float32)
    screen = open_screen(tmp_path, write_rows(tmp_path / "w", weights))
    changed = write_rows(tmp_path / "other", rng.permutation(weights))
    head = ExactLMHead(changed, HeadSpec(), screen)
    assert_exact(head, rng.standard_normal(HIDDEN, dtype=np.float32), (20, ()))
    assert not head.screened
    assert "broke its bound" in caplog.text


@pytest.mark.parametrize(
    "hidden",
    [
        np.zeros(HIDDEN - 1, np.float32),
        np.zeros((1, HIDDEN), np.float32),
        np.full(HIDDEN, np.nan, np.float32),
        np.full(HIDDEN, np.inf, np.float32),
    ],
)
def test_bad_hidden_states_are_refused(rows: WeightRows, hidden: np.ndarray) -> None:
    with pytest.raises(InvalidHiddenState):
        ExactLMHead(rows, HeadSpec()).top(hidden, 1)


def test_foreign_ids_and_foreign_biases_are_refused(rows: WeightRows) -> None:
    with pytest.raises(TokenIdOutOfRange):
        ExactLMHead(rows, HeadSpec()).top(np.zeros(HIDDEN, np.float32), 1, also=[ROWS])
    with pytest.raises(InvalidHeadSpec):
        ExactLMHead.open(rows, HeadSpec(bias=np.zeros(3, np.float32)))


@pytest.mark.parametrize("screened", [True, False])
def test_logits_that_overflow_are_refused(tmp_path: Path, screened: bool) -> None:
    weights = np.zeros((200, 4), np.float32)
    weights[150] = 3e38
    rows = write_rows(tmp_path / "w", weights)
    head = ExactLMHead(rows, HeadSpec(), open_screen(tmp_path, rows) if screened else None)
    with pytest.raises(NonFiniteLogits, match="token 150"):
        head.top(np.full(4, 10, np.float32), 2)


@pytest.fixture
def small_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lm_head, "_SCREENED_FROM", 1)


@pytest.mark.usefixtures("small_is_worth_it")
def test_the_screen_is_derived_once_and_rebuilt_when_damaged(
    tmp_path: Path, rows: WeightRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Path] = []
    build = lm_head.build_screen

    def counting(path: Path, *rest: object) -> None:
        built.append(path)
        build(path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(lm_head, "build_screen", counting)
    path = tmp_path / "screen-v1"
    hidden = np.random.default_rng(0).standard_normal(HIDDEN, dtype=np.float32)
    for damage, builds in ((None, 1), (None, 1), (b"x" * 100, 2), (b"", 3), (None, 3)):
        if damage is not None:
            path.write_bytes(damage)
        head = ExactLMHead.open(rows, screen_path=path)
        assert head.screened
        assert len(built) == builds
        assert_exact(head, hidden, (20, ()))
    assert [entry.name for entry in tmp_path.iterdir()] == ["screen-v1"]


@pytest.mark.usefixtures("small_is_worth_it")
def test_other_weights_under_the_same_path_get_their_own_screen(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    for _ in range(2):
        rows = write_rows(tmp_path / "w", rng.standard_normal((300, 16), dtype=np.float32))
        head = ExactLMHead.open(rows, screen_path=tmp_path / "screen-v1")
        assert_exact(head, rng.standard_normal(16, dtype=np.float32), (5, ()))
        assert head.screened


@pytest.mark.usefixtures("small_is_worth_it")
def test_a_folder_that_cannot_be_written_costs_speed_not_answers(
    tmp_path: Path, rows: WeightRows, caplog: pytest.LogCaptureFixture
) -> None:
    head = ExactLMHead.open(rows, screen_path=tmp_path / "missing" / "screen-v1")
    assert not head.screened
    assert caplog.records[-1].levelno == logging.WARNING
    assert_exact(head, np.ones(HIDDEN, np.float32), (20, ()))


@pytest.mark.usefixtures("small_is_worth_it")
def test_without_onnxruntime_the_answers_are_the_same(
    tmp_path: Path, rows: WeightRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "screen-v1"
    screened = ExactLMHead.open(rows, screen_path=path)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    plain = ExactLMHead.open(rows, screen_path=path)
    assert (screened.screened, plain.screened) == (True, False)
    for seed in range(20):
        hidden = np.random.default_rng(seed).standard_normal(HIDDEN, dtype=np.float32)
        one, other = screened.top(hidden, 50, (3, 4)), plain.top(hidden, 50, (3, 4))
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_small_matrices_have_no_screen(tmp_path: Path, rows: WeightRows) -> None:
    assert not ExactLMHead.open(rows, screen_path=tmp_path / "screen-v1").screened
    assert not (tmp_path / "screen-v1").exists()


@pytest.mark.parametrize(
    "spec", [HeadSpec(), HeadSpec(softcap=30.0, scale=0.5), HeadSpec(scale=2.0, divide=True)]
)
def test_states_that_are_multiplied_together_have_the_logits_of_each(
    rows: WeightRows, spec: HeadSpec
) -> None:
    head = ExactLMHead(rows, spec)
    states = np.random.default_rng(8).normal(size=(5, rows.hidden)).astype(np.float32)
    together = head.logits_of_states(states)
    assert together.shape == (5, rows.rows)
    for found, state in zip(together, states, strict=True):
        np.testing.assert_allclose(found, head.logits(state), rtol=1e-4, atol=1e-4)
    states[3, 0] = np.nan
    with pytest.raises(InvalidHiddenState):
        head.logits_of_states(states)
