"""When a server wants new sessions."""

from __future__ import annotations

from split_server.serving.lifecycle.phases import Lifecycle


def test_it_is_ready_from_its_start_until_it_leaves() -> None:
    life = Lifecycle(lambda: False)
    assert not life.ready
    life.start()
    assert life.ready
    life.leave()
    assert not life.ready
    life.start()
    assert not life.ready


def test_it_warms_up_first_where_it_has_something_to_warm() -> None:
    life = Lifecycle(lambda: False, warms_up=True)
    life.start()
    assert not life.ready
    life.warmed()
    assert life.ready


def test_a_model_that_has_stopped_is_not_ready() -> None:
    stopped: list[bool] = []
    life = Lifecycle(lambda: bool(stopped))
    life.start()
    stopped.append(True)
    assert not life.ready
