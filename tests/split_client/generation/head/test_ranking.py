import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from split_client.generation.head.ranking import kth_largest_at_least, rank, rank_all

SMALL = st.lists(st.integers(-3, 3), min_size=1, max_size=60)


@given(values=SMALL, k=st.integers(0, 70))
def test_equal_logits_rank_by_id(values: list[int], k: int) -> None:
    logits = np.array(values, np.float32)
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))[:k]
    assert rank_all(logits, k)[0].tolist() == expected
    ids, ranked = rank(np.arange(len(values)), logits, k)
    assert ids.tolist() == expected
    assert ranked.tolist() == [values[i] for i in expected]


@given(
    values=st.lists(st.floats(width=32, allow_nan=True), min_size=1, max_size=80),
    k=st.integers(1, 100),
)
def test_k_values_reach_the_threshold(values: list[float], k: int) -> None:
    padded = np.full(-(-len(values) // 8) * 8, -np.inf, np.float32)
    padded[: len(values)] = values
    threshold = kth_largest_at_least(padded, k, group=8)
    numbers = np.sort(padded[~np.isnan(padded)])[::-1]
    assert threshold == -np.inf or (numbers >= threshold).sum() >= k
    assert not np.isnan(threshold)
