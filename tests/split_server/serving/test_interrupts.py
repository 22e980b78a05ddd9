"""Interrupts while something is loaded."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress

import pytest

from split_server.serving.interrupts import Terminated, heeding_interrupts


def _failing_import() -> None:
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt as error:
        raise ModuleNotFoundError("could not import") from error


def _swallowing_import() -> None:
    with suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("load", [_failing_import, _swallowing_import])
def test_an_interrupt_is_one_whatever_a_library_makes_of_it(load: Callable[[], None]) -> None:
    with pytest.raises(KeyboardInterrupt), heeding_interrupts():
        load()


def test_sigterm_is_no_error_of_a_library_either() -> None:
    def load() -> None:
        with suppress(Exception):
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Terminated), heeding_interrupts():
        load()


def test_the_first_of_two_signals_counts() -> None:
    def load() -> None:
        _swallowing_import()
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(KeyboardInterrupt), heeding_interrupts():
        load()


def test_other_errors_pass_and_the_handler_from_before_is_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with pytest.raises(ValueError, match="of its own"), heeding_interrupts():
        raise ValueError("of its own")
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
