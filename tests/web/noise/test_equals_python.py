"""The web app's noise against the Python client's, on random rows: every bit that is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_client.noise.calibration import Table, calibrate
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


def _table(rng: np.random.Generator, rows: int, width: int, spread: float) -> dict[str, Any]:
    lengths = np.exp(spread * rng.normal(size=(rows, 1)))
    values = (rng.normal(size=(rows, width)) + rng.normal(size=width)) * lengths
    return {"rows": as_base64(values.astype(np.float32)), "width": width}


def test_the_same_noise_has_the_same_epsilon_for_the_same_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    tables = [_table(rng, 1200, 24, spread) for spread in (0.0, 0.1, 0.5)]
    asked = [each | {"sigma": 9.0, "most": most} for each in tables for most in (2e4, 5e9)]
    found = ask("noise_tables.js", asked)
    for number, (case, there) in enumerate(zip(asked, found, strict=True)):
        rows, width = floats(case["rows"]).reshape(-1, case["width"]), case["width"]
        table = Table(lambda ids, rows=rows: rows[ids], len(rows), width, "ab" * 32, None)
        here = calibrate(table, None, tmp_path / str(number), most_products=case["most"])
        epsilon = RowMechanism(9.0, here.clip, here.sensitivity, width).epsilon(1e-5)
        assert (there["clip"], there["exact"]) == (here.clip, here.exact)
        assert there["epsilon"] == pytest.approx(epsilon, rel=1e-9)
    assert {each["exact"] for each in found} == {True, False}


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
