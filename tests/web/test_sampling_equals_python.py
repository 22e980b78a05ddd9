"""The web app's sampler, embedding and head against the Python client's, on the same numbers."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_client.generation.embedding import Embedding
from split_client.generation.errors import NotRepresentable
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from split_wire.floats import FLOAT_NAMES, FloatName, f32_to_bf16
from tests.exhaustive import EXHAUSTIVE
from tests.web.generation_peers import EchoHead, as_base64, ask, floats

CASES = 500 if EXHAUSTIVE else 200
DRAWS = 4


def _vocabulary(rng: np.random.Generator) -> int:
    # Above 2 * 2,048 there are sets that are neither few nor nearly all.
    return int(rng.integers(4_200, 6_000) if rng.random() < 0.3 else rng.integers(2, 1_500))


def _logits(rng: np.random.Generator, rows: int) -> np.ndarray:
    logits = rng.standard_normal(rows) * rng.choice([0.01, 1, 3, 8])
    logits[rng.integers(rows, size=3)] += rng.choice([0, 5, 20])
    if rng.random() < 0.3:
        logits = np.rint(logits * 4) / 4  # many equal ones
    return logits.astype(np.float32)


def _params(rng: np.random.Generator, rows: int, logits: np.ndarray) -> dict[str, Any]:
    def sometimes(share: float, value: Any, otherwise: Any) -> Any:
        return value if rng.random() < share else otherwise

    return {
        "temperature": float(rng.choice([0, 0.2, 0.8, 1, 1.7, 20])),
        "top_k": int(rng.choice([0, 0, 0, 1, 7, 50, 300, 2**31 - 1])),
        "top_p": sometimes(0.5, float(rng.uniform(0.01, 1)), 1.0),
        "min_p": sometimes(0.3, float(rng.choice([0.001, 0.05, 0.3, 1])), 0.0),
        "repetition_penalty": sometimes(0.4, float(rng.uniform(0.5, 2)), 1.0),
        "presence_penalty": sometimes(0.4, float(rng.uniform(-2, 2)), 0.0),
        "frequency_penalty": sometimes(0.4, float(rng.uniform(-2, 2)), 0.0),
        "seed": int(rng.integers(0, 2**64, dtype=np.uint64)),
        "logit_bias": sometimes(0.4, _bias(rng, rows), {}),
        "banned": sometimes(0.4, _banned(rng, rows, logits), []),
    }


def _bias(rng: np.random.Generator, rows: int) -> dict[int, float]:
    tokens = rng.integers(rows, size=rng.integers(1, 30)).tolist()
    return {token: float(rng.choice([-100, -3, 0, 2.5, 30])) for token in tokens}


def _banned(rng: np.random.Generator, rows: int, logits: np.ndarray) -> list[int]:
    """The most likely ones, so that whole prefixes of the ranking are out."""
    share = rng.choice([0.01, 0.1, 0.45, 0.9, 0.999])
    return np.argsort(-logits)[: min(rows - 1, max(1, int(share * rows)))].tolist()


def _history(rng: np.random.Generator, rows: int, longest: int) -> list[int]:
    length = int(rng.choice([0, 5, 60, longest]))
    return (rng.integers(rows, size=length) // rng.integers(1, 20)).tolist()


def _case(number: int) -> dict[str, Any]:
    rng = np.random.default_rng(number)
    rows = _vocabulary(rng)
    logits = _logits(rng, rows)
    return {
        "params": _params(rng, rows, logits),
        "logits": logits,
        "slack": [None, 2.0**-10, 2.0**-10, 0.5][int(rng.integers(4))],
        "prompt": _history(rng, rows, 20_000),
        "generated": _history(rng, rows, 2_000),
        "draws": DRAWS,
    }


def _expected(case: dict[str, Any]) -> list[tuple[int, float]]:
    params = SamplingParams(**{**case["params"], "banned": frozenset(case["params"]["banned"])})
    sampler = Sampler(EchoHead(case["logits"].size, case["slack"]), params)
    reply, choices = list(case["generated"]), []
    for draw in range(case["draws"]):
        choices.append(sampler.choose(case["logits"], case["prompt"], reply, draw))
        reply.append(choices[-1].token_id)
    return [(choice.token_id, choice.probability) for choice in choices]


def _carried(case: dict[str, Any]) -> dict[str, Any]:
    # JavaScript's numbers end at 2^53: seeds travel as text.
    params = {**case["params"], "seed": str(case["params"]["seed"])}
    return {**case, "params": params, "logits": as_base64(case["logits"])}


def test_random_cases_choose_the_tokens_that_python_chooses() -> None:
    cases = [_case(number) for number in range(CASES)]
    answers = ask("generation/sample.js", {"cases": [_carried(case) for case in cases]})
    calls: Counter[str] = Counter()
    for number, (case, answer) in enumerate(zip(cases, answers, strict=True)):
        expected = _expected(case)
        assert [token for token, _ in answer["choices"]] == [token for token, _ in expected], number
        probabilities = [probability for _, probability in answer["choices"]]
        assert probabilities == pytest.approx([p for _, p in expected], rel=1e-9), number
        calls.update(answer["calls"])
    # Each way of choosing was taken: bounds that decided, and bounds that left it open.
    assert calls["top"] > 100
    assert calls["topAndRest"] - calls["logits"] > 50
    assert calls["logits"] > 50


def _table(dtype: FloatName, rng: np.random.Generator, scale: float | None) -> np.ndarray:
    values = rng.standard_normal((50, 24)) * np.exp2(rng.integers(-30, 12, (50, 24)))
    values[0, :6] = [0.0, -0.0, 2.0**-24, 2.0**-25, 6e-8, 60_000 / (scale or 1)]
    with np.errstate(over="ignore"):
        narrow = np.float16 if dtype == "f16" else np.float32
        stored = values.astype(narrow)
    return f32_to_bf16(stored) if dtype == "bf16" else stored


def _embedded(stored: np.ndarray, case: dict[str, Any]) -> np.ndarray | str:
    rows = WeightRows(stored, case["dtype"], Path("table"))
    wire: FloatName = "f32" if case["wire"] == "i8" else case["wire"]
    try:
        return Embedding(rows, case["scale"], case["compute"]).lookup(case["ids"], wire)
    except NotRepresentable as error:
        return error.code


def test_embedding_rows_are_those_of_python_bit_for_bit() -> None:
    rng = np.random.default_rng(1)
    scales = (None, 1.0, 28.0, 33.941_125_496_954_28, 0.1)
    wires = (*FLOAT_NAMES, "i8")
    cases, tables = [], []
    for dtype, scale, compute, wire in itertools.product(FLOAT_NAMES, scales, FLOAT_NAMES, wires):
        ids = [0, *rng.integers(50, size=9).tolist()]
        stored = _table(dtype, rng, scale)
        tables.append(stored)
        case = {"dtype": dtype, "scale": scale, "compute": compute, "wire": wire, "ids": ids}
        cases.append({**case, "table": as_base64(stored), "hidden": 24})
    answers = ask("generation/embed.js", {"cases": cases})
    refused = 0
    for stored, case, answer in zip(tables, cases, answers, strict=True):
        expected = _embedded(stored, case)
        told = {name: case[name] for name in ("dtype", "scale", "compute", "wire")}
        if isinstance(expected, str):
            assert answer == {"code": expected}, told
            refused += 1
        else:
            bits = floats(answer).view(np.uint32)
            assert np.array_equal(bits, expected.reshape(-1).view(np.uint32)), told
    assert 0 < refused < len(cases) / 2


def test_finished_logits_are_those_of_python_and_capped_ones_within_two_units() -> None:
    rng = np.random.default_rng(2)
    bias = rng.standard_normal(3000).astype(np.float32)
    specs = [
        {"softcap": softcap, "scale": scale, "divide": divide, "bias": bias if biased else None}
        for softcap, (scale, divide), biased in itertools.product(
            (None, 30.0, 50.0), ((1.0, False), (0.0625, False), (0.3, False), (6.7, True)), (0, 1)
        )
    ]
    products = (rng.standard_normal(3000) * np.exp2(rng.integers(-12, 9, 3000))).astype(np.float32)
    some = rng.permutation(3000)
    rivals = [-400.0, -0.3, 0.0, 1e-9, 7.7, 29.9, 1e4]
    cases = [
        {**spec, "bias": None if spec["bias"] is None else as_base64(bias)}
        | {"products": as_base64(products), "ids": ids, "biased": rivals}
        for spec in specs
        for ids in (None, some.tolist())
    ]
    answers = ask("generation/finish.js", {"cases": cases})
    for spec, (index, answer) in zip(
        [spec for spec in specs for _ in range(2)], enumerate(answers), strict=True
    ):
        python = HeadSpec(**spec)
        expected = python.finish(products, some if index % 2 else None)
        found = floats(answer["logits"])
        if spec["softcap"] is None:
            assert np.array_equal(found.view(np.uint32), expected.view(np.uint32))
        else:
            assert (np.abs(found - expected) <= 2 * np.spacing(np.abs(expected))).all()
        lowest = [python.lowest_rival(value) for value in rivals]
        lowest = [None if np.isinf(value) else value for value in lowest]
        assert answer["rivals"] == [v if v is None else pytest.approx(v, rel=1e-12) for v in lowest]
