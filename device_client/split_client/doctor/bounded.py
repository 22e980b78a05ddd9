"""A bound in time for work that brings none of its own, such as a look-up by the system."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class TooSlow(Exception):
    """The work is not done; it is left behind in a thread that ends with the process."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"nothing came of it within {seconds:g} s")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return or raise what ``work`` does, or raise TooSlow after ``seconds``."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is awaited
            errors.append(error)

    thread = threading.Thread(target=run, name="doctor", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TooSlow(seconds)
    return results[0]
