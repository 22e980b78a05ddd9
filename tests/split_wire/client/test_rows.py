"""States of the last so many rows of a step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from split_wire.client import ClientProtocol, ProtocolStateError, StepCompleted
from split_wire.errors import MalformedMessage, NonFinite, Unsupported, WrongShape
from split_wire.tensor import Tensor
from tests.split_wire.client.speaking import (
    OPENED,
    WIDTH,
    give,
    ready,
    result,
    sent,
    tensor,
    values,
)

COUNTING = replace(OPENED, capabilities=("rows",))


def asking(rows: Any) -> ClientProtocol:
    client = ready(COUNTING)
    client.step(0, values(3), rows)
    return client


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_as_many_states_come_back_as_were_asked_for(rows: int) -> None:
    client = ready(COUNTING)
    assert sent(client.step(0, values(3), rows)).returned == rows
    event = give(client, result(cached=3, hidden=tensor(rows)))
    assert isinstance(event, StepCompleted)
    np.testing.assert_array_equal(event.hidden, values(rows, 0.5))


@pytest.mark.parametrize(("asked", "given"), [(2, 1), (2, 3), (1, 3), (3, 2), ("last", 2)])
def test_fewer_or_more_states_than_were_asked_for_are_refused(asked: Any, given: int) -> None:
    client = asking(asked)
    with pytest.raises(WrongShape):
        give(client, result(cached=3, hidden=tensor(given)))
    assert client.cached == 0


def test_one_state_of_several_that_is_not_finite_is_refused() -> None:
    hidden = Tensor("f32", (2, WIDTH), bytes(4 * WIDTH + 4 * WIDTH - 4) + b"\0\0\xc0\x7f")
    with pytest.raises(NonFinite):
        give(asking(2), result(cached=3, hidden=hidden))


@pytest.mark.parametrize("rows", [0, -1, 4, 1.0, True, "some", None])
def test_states_that_no_step_has_are_not_asked_for(rows: Any) -> None:
    client = ready(COUNTING)
    with pytest.raises(ProtocolStateError):
        client.step(0, values(3), rows)
    assert client.outstanding is None


def test_a_server_that_does_not_count_rows_is_not_asked_to() -> None:
    client = ready()
    assert not client.counts_rows
    with pytest.raises(Unsupported):
        client.step(0, values(3), 2)
    client.step(0, values(3), "all")


def test_what_is_interactive_is_what_the_server_says() -> None:
    assert ready().opened == OPENED
    assert OPENED.interactive_rows == 16
    opened = ready(replace(OPENED, interactive_rows=4)).opened
    assert opened is not None
    assert opened.interactive_rows == 4
    with pytest.raises(MalformedMessage):
        ready(replace(OPENED, interactive_rows=0))
