"""Whose turn it is, layer after layer and pass after pass."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from split_server.engine.streamed.turns import Turns


def _fill(turns: Turns) -> int:
    """Have the next slot filled, which must be free."""
    number = turns.to_fill()
    assert number is not None
    turns.filled(number)
    return number


def test_layers_are_filled_ahead_beyond_the_end_of_a_pass() -> None:
    turns = Turns(layers=4, slots=3)
    assert [_fill(turns) for _ in range(3)] == [0, 1, 2]
    for layer in range(6):
        assert turns.take(layer % 4, 0) % 4 == layer % 4
        turns.release()
        assert _fill(turns) == layer + 3


def test_a_slot_that_is_computed_with_is_not_filled() -> None:
    turns = Turns(layers=4, slots=3)
    for _ in range(3):
        _fill(turns)
    filled: list[int | None] = []
    filler = threading.Thread(target=lambda: filled.append(turns.to_fill()))
    filler.start()
    turns.take(0, 0)
    filler.join(0.05)
    assert filled == []
    turns.release()
    filler.join()
    assert filled == [3]


def test_a_pass_that_was_given_up_begins_anew_and_late_fillings_do_not_count() -> None:
    turns = Turns(layers=5, slots=3)
    for layer in range(2):
        _fill(turns)
        turns.take(layer, 0)
        turns.release()
    late = turns.to_fill()
    assert late == 2
    with pytest.raises(TimeoutError):
        turns.take(0, 0)
    turns.filled(late)
    number = turns.to_fill()
    assert number is not None
    assert (number % 5, number > late) == (0, True)
    turns.filled(number)
    assert turns.take(0, 0) == number


def test_what_failed_is_told_to_who_waits_and_tried_again_for_the_next() -> None:
    turns, works = Turns(layers=2, slots=3), threading.Event()

    def fill() -> None:
        while (number := turns.to_fill()) is not None:
            if works.is_set():
                turns.filled(number)
            else:
                turns.failed(number, "no disk")

    filler = threading.Thread(target=fill)
    filler.start()
    for _ in range(3):
        with pytest.raises(RuntimeError, match="no disk"):
            turns.take(0, 10)
    works.set()
    assert turns.take(0, 10) == 0
    turns.close()
    filler.join()


def test_a_fault_ahead_does_not_keep_what_is_there() -> None:
    turns = Turns(layers=4, slots=3)
    _fill(turns)
    number = turns.to_fill()
    assert number == 1
    turns.failed(number, "no disk")
    assert turns.take(0, 0) == 0


def test_who_waits_is_told_that_all_is_over() -> None:
    turns = Turns(layers=4, slots=3)
    turns.close()
    assert turns.to_fill() is None
    with pytest.raises(RuntimeError, match="closed"):
        turns.take(0, 10)


def test_whatever_is_given_up_a_taken_layer_is_that_which_was_asked_for() -> None:
    random, turns, slots = np.random.default_rng(3), Turns(layers=7, slots=3), [-1] * 3
    faults = np.random.default_rng(4)

    def fill() -> None:
        while (number := turns.to_fill()) is not None:
            slots[number % 3] = number % 7
            if faults.random() < 0.05:
                turns.failed(number, "now and then")
            else:
                turns.filled(number)

    filler = threading.Thread(target=fill)
    filler.start()
    at = seen = 0
    for _ in range(3000):
        try:
            number = turns.take(at, 10)
        except RuntimeError:
            at = 0
            continue
        assert slots[number % 3] == at
        seen += 1
        turns.release()
        at = 0 if random.random() < 0.05 else (at + 1) % 7
    turns.close()
    filler.join()
    assert seen > 1000
