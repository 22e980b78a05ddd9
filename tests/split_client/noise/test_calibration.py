"""The clip norm and the sensitivity of a table, and what is kept of them."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from split_client.noise.calibration import FILE_NAME, Calibration, Table, calibrate
from split_client.noise.errors import NoiseSettingInvalid
from split_privacy.mechanism import clipped
from tests.split_client.noise.tables import ROWS, VALUES, WIDTH, table

NAME = f"2 {'cd' * 32} {ROWS} {WIDTH} None"


def unread(_: list[int]) -> NDArray[np.float32]:
    raise AssertionError("the table is read again")


def all_pairs(clip: float) -> float:
    rows = clipped(VALUES, clip)
    return float(np.linalg.norm(rows[:, None] - rows[None], axis=2).max())


def test_the_norm_leaves_ninety_nine_rows_of_a_hundred_as_they_are(tmp_path: Path) -> None:
    found = calibrate(table(), None, tmp_path)
    lengths = np.linalg.norm(VALUES.astype(np.float64), axis=1)
    assert 0.99 <= (lengths <= found.clip).mean() < 1.0
    assert found.exact
    assert found.sensitivity == pytest.approx(all_pairs(found.clip), rel=1e-6)


def test_the_search_is_made_once_for_each_table_and_norm(tmp_path: Path) -> None:
    first = calibrate(table(), 2.0, tmp_path)
    known = Table(unread, ROWS, WIDTH, table().sha256, None)
    assert calibrate(known, 2.0, tmp_path) == first
    with pytest.raises(AssertionError, match="again"):
        calibrate(known, 2.0000001, tmp_path)
    with pytest.raises(AssertionError, match="again"):
        calibrate(Table(unread, ROWS, WIDTH, "ef" * 32, None), 2.0, tmp_path)
    with pytest.raises(AssertionError, match="again"):
        calibrate(Table(unread, ROWS, WIDTH, table().sha256, 2.0), 2.0, tmp_path)


def test_a_damaged_file_is_made_again(tmp_path: Path) -> None:
    first = calibrate(table(), 2.0, tmp_path)
    for content in (b"", b"[]", b'{"table": 1}', b"\xff", b'{"numbers": {"quantile": -1}}'):
        (tmp_path / FILE_NAME).write_bytes(content)
        assert calibrate(table(), 2.0, tmp_path) == first


def test_a_kept_number_that_was_changed_is_searched_again(tmp_path: Path) -> None:
    """A smaller sensitivity than the table has would promise more than the noise gives."""
    first, file = calibrate(table(), None, tmp_path), tmp_path / FILE_NAME
    kept = json.loads(file.read_bytes())
    for name in kept["numbers"]:
        changed = kept | {"numbers": kept["numbers"] | {name: kept["numbers"][name] / 2}}
        file.write_text(json.dumps(changed))
        assert calibrate(table(), None, tmp_path) == first


@pytest.mark.parametrize("distance", [0.0, -1.0, 4.0000001, math.inf, math.nan, True])
def test_a_distance_that_no_two_clipped_rows_have_is_searched_again(
    tmp_path: Path, distance: float
) -> None:
    first, file = calibrate(table(), 2.0, tmp_path), tmp_path / FILE_NAME
    kept = json.loads(file.read_bytes())
    numbers = dict.fromkeys(kept["numbers"], distance)
    file.write_text(json.dumps(kept | {"numbers": numbers, "sha256": digest_of(numbers)}))
    assert calibrate(table(), 2.0, tmp_path) == first
    assert json.loads(file.read_bytes()) == kept


def digest_of(numbers: dict[str, float]) -> str:
    text = json.dumps({"numbers": numbers, "table": NAME}, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


def test_a_search_that_takes_too_long_gives_a_bound_which_is_kept_as_one(tmp_path: Path) -> None:
    found = calibrate(table(), 2.0, tmp_path, most_products=1e3)
    assert not found.exact
    assert all_pairs(2.0) <= found.sensitivity <= 4.0
    known = Table(unread, ROWS, WIDTH, table().sha256, None)
    assert calibrate(known, 2.0, tmp_path) == found


def test_a_file_that_an_earlier_version_kept_is_read(tmp_path: Path) -> None:
    """Its distances are as true as ever: rows under a kept key go on with the same noise."""
    numbers = {"quantile": 6.5, f"distance {(6.5).hex()}": 9.75}
    kept = {"table": NAME, "numbers": numbers, "sha256": digest_of(numbers)}
    (tmp_path / FILE_NAME).write_text(json.dumps(kept))
    known = Table(unread, ROWS, WIDTH, table().sha256, None)
    assert calibrate(known, None, tmp_path) == Calibration(6.5, 9.75, True)


def test_what_goes_on_is_told_once_and_only_where_the_table_is_looked_at(tmp_path: Path) -> None:
    told: list[str] = []
    for norm in (None, None, 2.0, 2.0):
        told.append("asked")
        calibrate(table(), norm, tmp_path, lambda: told.append("told"))
    assert told == ["asked", "told", "asked", "asked", "told", "asked"]


def test_a_table_that_hides_nothing_is_refused(tmp_path: Path) -> None:
    equal = Table(lambda ids: np.ones((len(ids), 4), np.float32), 10, 4, "a", None)
    zeros = Table(lambda ids: np.zeros((len(ids), 4), np.float32), 10, 4, "b", None)
    with pytest.raises(NoiseSettingInvalid, match="zeros"):
        calibrate(zeros, None, tmp_path)
    assert calibrate(equal, 1.0, tmp_path).sensitivity < 1e-6
