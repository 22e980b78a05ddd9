import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from split_client.generation.head.activation import LEVELS, OFFSET, split

VALUES = hnp.arrays(
    np.float64, st.integers(1, 40), elements=st.floats(-1e30, 1e30, allow_subnormal=True)
)


@given(VALUES)
def test_planes_and_residual_norm_add_up_to_the_values(values: np.ndarray) -> None:
    planes = split(values)
    assert planes.rows.min() >= OFFSET - LEVELS
    assert planes.rows.max() <= OFFSET + LEVELS
    levels = planes.rows.astype(np.float64) - OFFSET
    rebuilt = float(planes.coarse) * levels[0] + float(planes.fine) * levels[1]
    missing = np.linalg.norm(values - rebuilt)
    assert missing <= planes.residual_norm * (1 + 1e-9) + 1e-12 * planes.norm + 1e-30
    assert planes.norm == np.linalg.norm(values)


def test_two_planes_resolve_a_fifteen_thousandth_of_the_peak() -> None:
    values = np.random.default_rng(0).uniform(-1, 1, 1000)
    values[0] = 1.0
    assert split(values).residual_norm <= np.sqrt(1000) / (2 * LEVELS * 2 * LEVELS)


def test_a_zero_state_has_zero_planes() -> None:
    planes = split(np.zeros(8))
    assert set(planes.rows.reshape(-1).tolist()) == {OFFSET}
    assert planes.residual_norm == planes.norm == 0.0
