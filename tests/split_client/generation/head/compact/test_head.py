import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_client.generation.errors import (
    InvalidHeadSpec,
    InvalidHiddenState,
    NonFiniteLogits,
    PlaneNotStored,
    TokenIdOutOfRange,
)
from split_client.generation.head.compact import head as compact
from split_client.generation.head.compact.build import build_plane
from split_client.generation.head.compact.file import PlaneShape, read_plane
from split_client.generation.head.compact.head import CompactLMHead
from split_client.generation.head.compact.matmul import Estimator, NumpyProducts, OnnxProducts
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_client.generation.sampling.logprobs import token_logprobs
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from split_wire.floats import FloatName
from tests.exhaustive import EXHAUSTIVE
from tests.split_client.generation.sampling.test_sampler import ALL_PARAMS
from tests.split_client.generation.weights import write_rows

ROWS, HIDDEN = 6_001, 96
STATES = 6 if EXHAUSTIVE else 3

SPECS = {
    "plain": HeadSpec(),
    "bias": HeadSpec(bias=np.random.default_rng(9).standard_normal(ROWS).astype(np.float32) * 4),
    "softcap": HeadSpec(softcap=30.0),
    "saturated softcap": HeadSpec(softcap=0.7),
    "divided": HeadSpec(scale=6.0, divide=True),
    "multiplied": HeadSpec(scale=0.0625),
}
KERNELS: dict[str, Callable[..., Any]] = {
    "onnxruntime": lambda plane: OnnxProducts(plane, threads=1),
    "numpy": NumpyProducts,
}


def open_compact(
    folder: Path, rows: WeightRows, spec: HeadSpec | None = None, kernel: str = "onnxruntime"
) -> CompactLMHead:
    """A compact head whatever its size, its plane freshly derived in ``folder``."""
    shape = PlaneShape(rows.rows, rows.hidden, bytes(32))
    build_plane(folder / "plane", rows, shape)
    plane = read_plane(folder / "plane", shape)
    return CompactLMHead(rows, spec or HeadSpec(), Estimator(plane, KERNELS[kernel](plane)))


def assert_exact(
    head: CompactLMHead, hidden: np.ndarray, k: int, also: tuple[int, ...] = ()
) -> None:
    """``top`` equals a full sort of all logits, bit for bit."""
    full = ExactLMHead(head.rows, head.spec).logits(hidden)
    order = np.lexsort((np.arange(full.size), -full))
    ids = order[~np.isin(order, also)][:k]
    found = head.top(hidden, k, also)
    assert found.ids.tolist() == ids.tolist()
    assert found.logits.tolist() == full[ids].tolist()
    assert found.also_logits.tolist() == [full[i] for i in also]


def rescored(head: CompactLMHead, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each later call reads one by one; a full product adds nothing."""
    taken: list[int] = []

    def counting(ids: np.ndarray) -> np.ndarray:
        taken.append(np.asarray(ids).size)
        return WeightRows.take(head.rows, ids)

    monkeypatch.setattr(head.rows, "take", counting)
    return taken


def varied_weights() -> np.ndarray:
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((ROWS, HIDDEN), dtype=np.float32)
    weights *= 2 ** rng.uniform(-3, 3, (ROWS, 1)).astype(np.float32)
    weights[:, ::48] *= np.float32(2.0**-6)
    weights[500:520] = weights[7]
    weights[600:610] = 0
    weights[800] = 0
    weights[800, 3] = 400
    return weights


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> WeightRows:
    return write_rows(tmp_path_factory.mktemp("rows") / "w", varied_weights())


def states(rows: WeightRows, count: int) -> list[np.ndarray]:
    """Random ones with elements of 64 where columns are small, and rows themselves."""
    rng = np.random.default_rng(1)
    random = rng.standard_normal((count, rows.hidden), dtype=np.float32)
    random[:, ::48] *= 64
    return [*random, *rows.take(rng.integers(rows.rows, size=count))]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", SPECS)
def test_the_top_equals_a_full_sort(
    tmp_path: Path, rows: WeightRows, name: str, kernel: str
) -> None:
    head = open_compact(tmp_path, rows, SPECS[name], kernel)
    for hidden in [
        *states(rows, STATES),
        np.zeros(HIDDEN, np.float32),
        np.eye(HIDDEN, dtype="f4")[3],
    ]:
        for k in (1, 50, 400):
            assert_exact(head, hidden, k, also=() if k == 1 else (2, 7, 510, 6_000, 2))
    assert head.screened


@pytest.mark.parametrize("dtype", ["f16", "f32"])
def test_rows_of_every_dtype_are_rescored_in_it(tmp_path: Path, dtype: FloatName) -> None:
    rows = write_rows(tmp_path / "w", varied_weights(), dtype)
    head = open_compact(tmp_path, rows)
    for hidden in states(rows, 3):
        assert_exact(head, hidden, 50, also=(7, 8))


def test_a_shortlist_spares_most_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    rows = write_rows(tmp_path / "w", rng.standard_normal((30_000, 256), dtype=np.float32))
    head = open_compact(tmp_path, rows)
    taken = rescored(head, monkeypatch)
    assert head.top(rng.standard_normal(256, dtype=np.float32), 50).ids.size == 50
    assert sum(taken) == 512


@pytest.mark.parametrize("noise", [0.3, 1.0, 3.0])
def test_estimates_that_miss_by_more_make_the_shortlist_grow(
    tmp_path: Path, noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(4)
    rows = write_rows(tmp_path / "w", rng.standard_normal((20_000, 64), dtype=np.float32))
    head = open_compact(tmp_path, rows)
    right = OnnxProducts.__call__

    def noisy(self: OnnxProducts, scaled: np.ndarray) -> np.ndarray:
        estimates = right(self, scaled)
        random = rng.standard_normal(estimates.size, dtype=np.float32)
        return estimates + random * np.float32(noise * estimates.std())

    monkeypatch.setattr(OnnxProducts, "__call__", noisy)
    taken = rescored(head, monkeypatch)
    for _ in range(5):
        assert_exact(head, rng.standard_normal(64, dtype=np.float32), 50)
    assert max(taken) >= 512 * 4


def test_rows_full_of_ties_rank_by_id(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = write_rows(tmp_path / "w", rng.integers(-2, 3, (5_000, 5)).astype(np.float32))
    head = open_compact(tmp_path, rows)
    for _ in range(10):
        assert_exact(head, rng.integers(-2, 3, 5).astype(np.float32), 40, also=(1, 2, 77))


@pytest.mark.parametrize("name", SPECS)
def test_the_interval_of_the_rest_holds_its_weight(
    tmp_path: Path, rows: WeightRows, name: str
) -> None:
    spec = SPECS[name]
    head = open_compact(tmp_path, rows, spec)
    also, seen = np.array([3, 8, 900]), 0
    for hidden in states(rows, 4):
        for k, temperature in ((40, 0.7), (256, 1.5)):
            found = head.top_and_rest(hidden, k, temperature, also)
            if found is None:
                continue
            top, rest = found
            seen += 1
            logits = ExactLMHead(rows, spec).logits(hidden).astype(np.float64)
            weights = np.exp((logits - float(top.logits[0])) / temperature)
            weights[top.ids], weights[also] = 0, 0
            assert rest.low <= weights.sum() <= rest.high
            assert top.also_logits.tolist() == ExactLMHead(rows, spec).logits(hidden)[also].tolist()
    assert seen or name == "saturated softcap"


@pytest.mark.parametrize("name", ALL_PARAMS)
def test_a_sampler_chooses_as_with_the_exact_head(
    tmp_path: Path, rows: WeightRows, name: str
) -> None:
    params = SamplingParams(**ALL_PARAMS[name], seed=3)
    compacted = Sampler(open_compact(tmp_path, rows), params)
    exact = Sampler(ExactLMHead(rows, HeadSpec()), params)
    for draw, hidden in enumerate(states(rows, 5)):
        hidden = hidden / np.float32(np.linalg.norm(hidden))
        one = compacted.choose(hidden, [5, 6, 7], [7, 8, 300], draw)
        other = exact.choose(hidden, [5, 6, 7], [7, 8, 300], draw)
        assert one.token_id == other.token_id
        assert one.probability == pytest.approx(other.probability, rel=0.2)


def test_log_probabilities_are_those_of_all_logits(tmp_path: Path, rows: WeightRows) -> None:
    head, exact = open_compact(tmp_path, rows), ExactLMHead(rows, HeadSpec())
    for hidden in states(rows, 3):
        found = token_logprobs(head, hidden, 17, 20)
        expected = token_logprobs(exact, hidden, 17, 20)
        assert found.logprob == pytest.approx(expected.logprob, abs=1e-5)
        assert [token for token, _ in found.top] == [token for token, _ in expected.top]


def test_more_than_there_is_gives_all_that_is_left(tmp_path: Path, rows: WeightRows) -> None:
    head = open_compact(tmp_path, rows)
    hidden = np.ones(HIDDEN, np.float32)
    assert head.top(hidden, ROWS + 5, also=(1, 1, 2)).ids.size == ROWS - 2
    everything = head.top(hidden, 10, also=range(ROWS))
    assert everything.ids.size == 0
    assert np.array_equal(everything.also_logits, head.logits(hidden))
    assert head.top(hidden, 0).ids.size == 0


@pytest.mark.parametrize(
    "hidden",
    [np.zeros(HIDDEN - 1, np.float32), np.full(HIDDEN, np.nan, np.float32)],
)
def test_bad_hidden_states_are_refused(
    tmp_path: Path, rows: WeightRows, hidden: np.ndarray
) -> None:
    head = open_compact(tmp_path, rows)
    for ask in (head.logits, lambda h: head.top(h, 1), lambda h: head.top_and_rest(h, 1, 1.0)):
        with pytest.raises(InvalidHiddenState):
            ask(hidden)


def test_foreign_ids_and_foreign_biases_are_refused(tmp_path: Path, rows: WeightRows) -> None:
    with pytest.raises(TokenIdOutOfRange):
        open_compact(tmp_path, rows).top(np.zeros(HIDDEN, np.float32), 1, also=[ROWS])
    with pytest.raises(InvalidHeadSpec):
        CompactLMHead.open(
            rows, HeadSpec(bias=np.zeros(3, np.float32)), plane_path=tmp_path / "plane"
        )


@pytest.mark.parametrize("kernel", KERNELS)
def test_logits_that_overflow_are_refused(tmp_path: Path, kernel: str) -> None:
    weights = np.zeros((3_000, 4), np.float32)
    weights[150] = 3e38
    head = open_compact(tmp_path, write_rows(tmp_path / "w", weights), kernel=kernel)
    with pytest.raises(NonFiniteLogits, match="token 150"):
        head.top(np.full(4, 10, np.float32), 2)


@pytest.fixture
def small_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compact, "_COMPACT_FROM", 1)


@pytest.mark.usefixtures("small_is_worth_it")
def test_the_plane_is_derived_once_and_rebuilt_when_damaged(
    tmp_path: Path, rows: WeightRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Path] = []

    def counting(path: Path, *rest: Any) -> None:
        built.append(path)
        build_plane(path, *rest)

    monkeypatch.setattr(compact, "build_plane", counting)
    path = tmp_path / "compact-v1"
    for damage, builds in ((None, 1), (None, 1), (b"x" * 100, 2), (b"", 3), (None, 3)):
        if damage is not None:
            path.write_bytes(damage)
        head = CompactLMHead.open(rows, plane_path=path)
        assert head.screened
        assert len(built) == builds
        assert_exact(head, states(rows, 1)[0], 20)
    assert [entry.name for entry in tmp_path.iterdir()] == ["compact-v1"]


@pytest.mark.usefixtures("small_is_worth_it")
def test_other_weights_under_the_same_path_get_their_own_plane(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    for _ in range(2):
        rows = write_rows(tmp_path / "w", rng.standard_normal((3_000, 16), dtype=np.float32))
        head = CompactLMHead.open(rows, plane_path=tmp_path / "compact-v1")
        assert_exact(head, rng.standard_normal(16, dtype=np.float32), 5)


@pytest.mark.usefixtures("small_is_worth_it")
def test_a_folder_that_cannot_be_written_is_a_typed_error(tmp_path: Path, rows: WeightRows) -> None:
    with pytest.raises(PlaneNotStored, match="--lm-head full"):
        CompactLMHead.open(rows, plane_path=tmp_path / "missing" / "compact-v1")


@pytest.mark.usefixtures("small_is_worth_it")
def test_without_onnxruntime_the_answers_are_the_same(
    tmp_path: Path, rows: WeightRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "compact-v1"
    fast = CompactLMHead.open(rows, plane_path=path)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    plain = CompactLMHead.open(rows, plane_path=path)
    assert plain.screened
    for hidden in states(rows, 10):
        one, other = fast.top(hidden, 50, (3, 4)), plain.top(hidden, 50, (3, 4))
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_small_matrices_have_no_plane(tmp_path: Path, rows: WeightRows) -> None:
    head = CompactLMHead.open(rows, plane_path=tmp_path / "compact-v1")
    assert not head.screened
    assert not (tmp_path / "compact-v1").exists()
    assert_exact(head, states(rows, 1)[0], 20)
