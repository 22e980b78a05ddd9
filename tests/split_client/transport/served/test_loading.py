from __future__ import annotations

from collections.abc import Callable

import pytest

from split_client.errors import Cancelled, ModelLoading
from split_client.transport.channel import Loading, Reconnecting
from split_client.transport.served.loading import when_loaded


def loading(times: int, seconds: float | None) -> Callable[[], str]:
    left = [times]

    def ask() -> str:
        if not left[0]:
            return "there"
        left[0] -= 1
        raise ModelLoading("model 'b' is being loaded", seconds)

    return ask


def test_a_model_is_asked_for_until_it_is_there_and_each_wait_is_told() -> None:
    told: list[Reconnecting] = []
    pauses: list[float] = []
    assert when_loaded(loading(2, 12.0), told.append, pauses.append) == "there"
    assert pauses == [5.0, 5.0]
    words = "model 'b' is being loaded"
    assert told == [Loading(words, 0, 12.0), Loading(words, 1, 12.0)]


@pytest.mark.parametrize(("named", "pause"), [(None, 1.0), (0.0, 1.0), (3.0, 3.0), (1e9, 5.0)])
def test_the_pause_is_what_the_server_names_within_bounds(
    named: float | None, pause: float
) -> None:
    pauses: list[float] = []
    when_loaded(loading(1, named), lambda _: None, pauses.append)
    assert pauses == [pause]


def test_a_model_that_never_comes_is_given_up_after_ten_minutes() -> None:
    pauses: list[float] = []
    with pytest.raises(ModelLoading):
        when_loaded(loading(10_000, 30.0), lambda _: None, pauses.append)
    assert sum(pauses) == 600


def test_whoever_stops_the_wait_is_heard() -> None:
    def pause(_: float) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        when_loaded(loading(1, 1.0), lambda _: None, pause)
