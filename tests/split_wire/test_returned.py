from __future__ import annotations

from typing import Any

import pytest

from split_wire.errors import MalformedMessage
from split_wire.returned import returned, rows_asked


@pytest.mark.parametrize(("rows", "wanted"), [("last", 1), ("all", 7), (1, 1), (3, 3), (7, 7)])
def test_a_step_brings_back_the_last_all_or_so_many_states(rows: Any, wanted: int) -> None:
    assert returned(rows_asked(rows, 7), 7) == wanted


def test_a_step_that_does_not_say_asks_for_the_last_state() -> None:
    assert rows_asked(None, 7) == "last"


@pytest.mark.parametrize("rows", [0, -1, 8, 2**64, 1.0, True, False, "some", "2", b"\1", [1], {}])
def test_rows_that_no_step_has_are_refused(rows: Any) -> None:
    with pytest.raises(MalformedMessage, match="rows"):
        rows_asked(rows, 7)
