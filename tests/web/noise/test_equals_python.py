"""The web app's noise against the Python client's, on random rows: every bit that is sent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from split_privacy.mechanism import RowMechanism
from split_privacy.prf import NoiseContext, RowName, RowStreams, histories
from tests.web.generation_peers import as_base64, ask, floats

KEY, MODEL = bytes(range(100, 132)), "cd" * 32
WIDTHS, SIGMAS, ROWS = (64, 192, 576, 896), (0.003, 0.05, 1.0, 30.0), 20


def _case(rng: np.random.Generator, width: int, sigma: float) -> dict[str, Any]:
    rows = rng.normal(size=(ROWS, width)) * rng.uniform(0.5, 2, size=(ROWS, 1))
    return {
        "width": width,
        "sigma": sigma,
        "clip": float(rng.uniform(0.8, 1.2)) * width**0.5,
        "key": KEY.hex(),
        "model": MODEL,
        "codec": "bf16",
        "tokens": rng.integers(0, 150_000, ROWS).tolist(),
        "rows": as_base64(rows.astype(np.float32)),
    }


def _released(case: dict[str, Any]) -> bytes:
    sigma, clip, tokens = case["sigma"], case["clip"], case["tokens"]
    mechanism = RowMechanism(sigma, clip, 2 * clip, case["width"])
    context = NoiseContext(KEY, "embedding", sigma, clip, MODEL, case["codec"])
    before = histories(tokens)
    names = [RowName(at, token, before[at]) for at, token in enumerate(tokens)]
    rows = floats(case["rows"]).reshape(ROWS, -1)
    return mechanism.release(rows, names, RowStreams(context)).tobytes()


def test_released_rows_have_the_same_bits_and_epsilons_the_same_sigma() -> None:
    rng = np.random.default_rng(5)
    cases = [_case(rng, width, sigma) for width in WIDTHS for sigma in SIGMAS]
    epsilons = [
        {"epsilon": e, "delta": d, "clip": 1.5, "sensitivity": 2.25, "width": 192}
        for e in np.exp(rng.uniform(-2, 6, 100)).tolist()
        for d in (1e-9, 1e-5)
    ]
    found = ask("noise_rows.js", {"cases": cases, "epsilons": epsilons})
    for case, rows in zip(cases, found["rows"], strict=True):
        assert floats(rows).tobytes() == _released(case), (case["width"], case["sigma"])
    sigmas = [
        RowMechanism.for_epsilon(
            each["epsilon"], each["delta"], each["clip"], each["sensitivity"], each["width"]
        ).sigma
        for each in epsilons
    ]
    assert found["sigmas"] == pytest.approx(sigmas, rel=1e-12)
