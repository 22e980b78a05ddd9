import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from split_client.generation.errors import InvalidHeadSpec
from split_client.generation.head.spec import HeadSpec

FINITE = st.floats(-1e4, 1e4, width=32)


def test_softcap_is_gemmas() -> None:
    products = np.linspace(-200, 200, 101, dtype=np.float32)
    logits = torch.from_numpy(products)
    expected = torch.tanh(logits / 30.0) * 30.0
    assert np.allclose(HeadSpec(softcap=30.0).finish(products), expected.numpy(), rtol=3e-7)


def test_a_divisor_divides_and_a_factor_multiplies() -> None:
    products = np.random.default_rng(0).standard_normal(1000, dtype=np.float32)
    divided = HeadSpec(scale=6.0, divide=True).finish(products)
    assert np.array_equal(divided, (torch.from_numpy(products) / 6.0).numpy())
    multiplied = HeadSpec(scale=0.0625).finish(products)
    assert np.array_equal(multiplied, products * np.float32(0.0625))


def test_bias_follows_its_rows() -> None:
    spec = HeadSpec(bias=np.array([1, 2, 3], np.float32))
    assert spec.finish(np.zeros(2, np.float32), np.array([2, 0])).tolist() == [3, 1]
    assert spec.finish(np.zeros(3, np.float32)).tolist() == [1, 2, 3]


@given(
    threshold=FINITE,
    gap=st.floats(0, 1, width=32),
    softcap=st.one_of(st.none(), st.sampled_from([0.5, 30.0])),
    scale=st.sampled_from([1.0, 0.0625, 13.7]),
    divide=st.booleans(),
)
def test_nothing_below_the_lowest_rival_reaches_the_threshold(
    threshold: float, gap: float, softcap: float | None, scale: float, divide: bool
) -> None:
    spec = HeadSpec(softcap=softcap, scale=scale, divide=divide)
    floor = spec.lowest_rival(threshold)
    assert floor <= threshold
    if math.isinf(floor):
        return
    below = np.nextafter(np.float32(floor - gap * abs(floor) * 1e-6), np.float32(-np.inf))
    finished = spec.finish(np.array([below, threshold], np.float32))
    assert finished[0] < finished[1]


def test_a_saturated_cap_makes_everything_saturated_a_rival() -> None:
    spec = HeadSpec(softcap=30.0)
    assert 200 < spec.lowest_rival(3_000.0) < 270
    assert spec.lowest_rival(-3_000.0) == -math.inf
    assert spec.lowest_rival(-math.inf) == -math.inf


@pytest.mark.parametrize(
    "arguments",
    [
        {"scale": 0.0},
        {"scale": -1.0},
        {"scale": math.nan},
        {"softcap": math.inf},
        {"softcap": 0.0},
        {"bias": np.array([np.nan], np.float32)},
    ],
)
def test_values_outside_their_range_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidHeadSpec):
        HeadSpec(**arguments)  # type: ignore[arg-type]


def test_a_bias_of_another_length_is_refused() -> None:
    with pytest.raises(InvalidHeadSpec, match=r"\(3,\) for 4 rows"):
        HeadSpec(bias=np.zeros(3, np.float32)).check_rows(4)
