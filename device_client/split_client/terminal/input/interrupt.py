"""Ctrl-C while a reply is made: once ends it after its next token, twice breaks it off."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stops_reply(cancel: Callable[[], None]) -> Iterator[None]:
    """Inside, the first Ctrl-C calls ``cancel`` and the second raises KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    presses = 0

    def on_press(*_: object) -> None:
        nonlocal presses
        presses += 1
        if presses > 1:
            raise KeyboardInterrupt
        cancel()

    previous = signal.signal(signal.SIGINT, on_press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
