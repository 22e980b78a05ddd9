"""Ctrl-C and SIGTERM while libraries are imported and a model is loaded."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(BaseException):
    """SIGTERM came. Like KeyboardInterrupt it is no error that a library may handle."""


@contextmanager
def heeding_interrupts() -> Iterator[None]:
    """An interrupt in the ``with`` ends it with KeyboardInterrupt, SIGTERM with Terminated,
    whatever was made of it inside.

    Lazy imports turn one into an error of their own or swallow it. For the main thread alone.
    """
    came: list[type[BaseException]] = []

    def interrupt(number: int, _: FrameType | None) -> None:
        came.append(KeyboardInterrupt if number == signal.SIGINT else Terminated)
        raise came[0]

    before = {
        number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    except BaseException:
        if came:
            raise came[0] from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        raise came[0]
