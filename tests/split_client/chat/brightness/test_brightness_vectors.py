"""tests/vectors/brightness.json: what is asked for, rows, votes, and how brightness is kept."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts.vectors.run import build, render
from split_client.chat.brightness.errors import BrightnessInvalid
from split_client.chat.brightness.formula import Row, look, new, votes
from split_client.chat.brightness.rows import MOST_WEIGHTS, request_of, row_of
from split_client.chat.brightness.runs import kept, part_of, values_in
from split_wire.attention import AttentionWeights, request_field

VECTORS = json.loads((Path(__file__).parents[3] / "vectors" / "brightness.json").read_text("ascii"))


def named(kind: str) -> Any:
    cases = VECTORS[kind]
    return pytest.mark.parametrize("case", cases, ids=lambda case: str(case.get("name", "")))


def test_the_file_is_what_is_built() -> None:
    assert json.loads(render(build("brightness"))) == VECTORS


@named("requests")
def test_a_mode_asks_for_so_much(case: dict[str, Any]) -> None:
    request = request_of(case["mode"], case["layers"])
    assert request_field(case["request"]) == request
    assert request.layers_of(case["layers"]) * request.top_k <= MOST_WEIGHTS


@named("rows")
def test_rows_become_one(case: dict[str, Any]) -> None:
    values = np.array(case["values"], np.float32)
    positions = None if case["positions"] is None else np.array(case["positions"], np.int32)
    row = row_of(case["mode"], AttentionWeights(values, positions), case["length"])
    assert row.positions.tolist() == case["expected"]["positions"]
    assert row.shares.tolist() == case["expected"]["shares"]


@named("looks")
def test_rows_look_at_a_chat(case: dict[str, Any]) -> None:
    brightness = new(case["count"])
    for told in case["rows"]:
        row = Row(np.array(told["positions"]), np.array(told["shares"]), told["length"])
        assert votes(row).tolist() == told["votes"]
        look(brightness, row)
        runs = [[len([*same]), value] for value, same in groupby(brightness.tolist())]
        assert runs == told["brightness"]


@named("runs")
def test_it_is_kept_in_runs(case: dict[str, Any]) -> None:
    values = np.array([value for count, value in case["values"] for _ in range(count)], np.int64)
    assert kept(values) == case["text"]
    assert values_in(case["text"], len(values)).tolist() == values.tolist()


@named("parts")
def test_a_part_is_as_bright_as_its_brightest_quarter(case: dict[str, Any]) -> None:
    assert part_of(np.array(case["values"]), case["start"], case["stop"]) == case["expected"]


@named("refused")
def test_what_keeps_no_brightness_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(BrightnessInvalid):
        values_in(case["text"], case["length"])
