"""Brightness of a chat's tokens: what is asked for, rows, votes, and how it is kept."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from split_client.chat.brightness import formula
from split_client.chat.brightness.errors import BrightnessInvalid
from split_client.chat.brightness.formula import Row, look, new, votes
from split_client.chat.brightness.rows import MODES, Mode, request_of, row_of
from split_client.chat.brightness.runs import kept, part_of, values_in
from split_wire.attention import AttentionWeights, request_value

_RULE = {
    "one": formula.ONE,
    "most_positions": formula.MOST_POSITIONS,
    "brightest": formula.BRIGHTEST,
    "born": formula.BORN,
    "uniform": formula.UNIFORM,
    "most_vote": formula.MOST_VOTE,
    "gain": formula.GAIN,
    "near": formula.NEAR,
    "fall": formula.FALL,
}


def build() -> dict[str, Any]:
    """All of brightness.json."""
    return {
        "format": 1,
        "rule": _RULE,
        "requests": [_request(mode, layers) for mode in MODES for layers in (1, 3, 5, 24, 30)],
        "rows": [_row(name, *given) for name, given in _rows().items()],
        "looks": [_looks(name, *given) for name, given in _chats().items()],
        "runs": [_run(name, values) for name, values in _kept().items()],
        "parts": [
            _part(start, stop) for start, stop in ((0, 1), (0, 9), (2, 5), (3, 3), (0, 3), (1, 9))
        ],
        "refused": [_refused(name, *given) for name, given in _BAD.items()],
    }


def _request(mode: Mode, layers: int) -> dict[str, Any]:
    return {"mode": mode, "layers": layers, "request": request_value(request_of(mode, layers))}


def _row(
    name: str, mode: Mode, values: NDArray[np.float32], positions: Any, length: int
) -> dict[str, Any]:
    row = row_of(mode, AttentionWeights(values, positions), length)
    return {
        "name": name,
        "mode": mode,
        "values": values.tolist(),
        "positions": None if positions is None else positions.tolist(),
        "length": length,
        "expected": {"positions": row.positions.tolist(), "shares": row.shares.tolist()},
    }


def _rows() -> dict[str, tuple[Mode, NDArray[np.float32], Any, int]]:
    generator = np.random.default_rng(1)
    top, places = _largest(generator, 1, 9, 4)
    several, apart = _largest(generator, 4, 9, 3)
    whole = _softmax(generator, 3, 2, 6)
    return {
        "one row of all positions": ("mean", _softmax(generator, 1, 1, 6), None, 6),
        "the largest weights": ("mean", top, places, 9),
        "layers that count more": ("weighted", several, apart, 9),
        "the mean of all heads": ("mean", whole, None, 6),
        "the maximum of all heads": ("maximum", whole, None, 6),
        "the mean of the last layers": ("last", whole[2:], None, 6),
        "a weight a little above 1": ("mean", np.full((1, 1, 1), 1 + 1e-6, np.float32), None, 1),
    }


def _softmax(generator: Any, layers: int, heads: int, width: int) -> NDArray[np.float32]:
    scores = np.exp(2 * generator.normal(size=(layers, heads, width)))
    return (scores / scores.sum(-1, keepdims=True)).astype(np.float16).astype(np.float32)


def _largest(
    generator: Any, layers: int, length: int, count: int
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    values = _softmax(generator, layers, 1, length)
    places = np.argsort(-values, axis=-1, kind="stable")[..., :count]
    return np.take_along_axis(values, places, -1), places.astype(np.int32)


def _looks(name: str, count: int, rows: list[Row]) -> dict[str, Any]:
    brightness, told = new(count), []
    for row in rows:
        look(brightness, row)
        told.append(
            {
                "positions": row.positions.tolist(),
                "shares": row.shares.tolist(),
                "length": row.length,
                "votes": votes(row).tolist(),
                "brightness": [
                    [len([*same]), value] for value, same in groupby(brightness.tolist())
                ],
            }
        )
    return {"name": name, "count": count, "rows": told}


def _chats() -> dict[str, tuple[int, list[Row]]]:
    generator = np.random.default_rng(2)
    many = [_drawn(generator, 40 + at) for at in range(12)]
    one = Row(np.array([0]), np.array([formula.ONE]), 1)
    nothing = Row(np.arange(5), np.zeros(5, np.int64), 5)
    far = Row(np.array([0, 1, 3999]), np.array([9_000_000, 2_000_000, 5_000_000]), 4000)
    return {
        "a chat of 30 tokens, and its reply": (30, many),
        "all of a context": (40, many[:2]),
        "nothing that is not immune": (0, many[:1]),
        "the first position alone": (1, [one]),
        "no weights": (5, [nothing]),
        "far and near": (4000, [far]),
        "a long context": (3, [Row(np.array([1]), np.array([formula.ONE]), 1 << 23)]),
    }


def _drawn(generator: Any, length: int) -> Row:
    weights = _softmax(generator, 1, 1, length)
    places = np.argsort(-weights[0, 0], kind="stable")[:16].astype(np.int32)
    picked = weights[:, :, places]
    return row_of("mean", AttentionWeights(picked, places[None, None]), length)


def _kept() -> dict[str, NDArray[np.int64]]:
    return {
        "as it began": np.full(9, formula.BORN, np.int64),
        "nothing": np.zeros(0, np.int64),
        "runs": np.array([1, 1, 1, 65535, 0, 0, formula.BORN], np.int64),
        "longer than one run": np.full(65540, 7, np.int64),
    }


def _run(name: str, values: NDArray[np.int64]) -> dict[str, Any]:
    text = kept(values)
    assert values_in(text, len(values)).tolist() == values.tolist()
    runs = [[len([*same]), value] for value, same in groupby(values.tolist())]
    return {"name": name, "values": runs, "text": text}


_VALUES = np.array([9, 8, 65535, 65535, 0, 1, 2, 60000, 7], np.int64)


def _part(start: int, stop: int) -> dict[str, Any]:
    expected = part_of(_VALUES, start, stop)
    return {"values": _VALUES.tolist(), "start": start, "stop": stop, "expected": expected}


_BAD = {
    "other characters": ("AQAB?A==", 1),
    "padding that is missing": ("AQABAA", 1),
    "two bytes": ("AQA=", 1),
    "a run of nothing": ("AAABAA==", 0),
    "more than there are": ("AgABAA==", 1),
    "fewer than there are": ("AgABAA==", 3),
    "more runs than there are characters": ("AQABAAEAAQA=", 1),
}


def _refused(name: str, text: str, length: int) -> dict[str, Any]:
    try:
        values_in(text, length)
    except BrightnessInvalid:
        return {"name": name, "text": text, "length": length}
    raise AssertionError(name)
