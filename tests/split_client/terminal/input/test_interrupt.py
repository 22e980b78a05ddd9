from __future__ import annotations

import signal
import threading

import pytest

from split_client.terminal.input.interrupt import stops_reply


def test_the_first_press_cancels_and_the_second_interrupts() -> None:
    cancelled: list[bool] = []
    before = signal.getsignal(signal.SIGINT)
    with stops_reply(lambda: cancelled.append(True)):
        signal.raise_signal(signal.SIGINT)
        assert cancelled == [True]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_leaves_signals_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def work() -> None:
        with stops_reply(lambda: None):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
