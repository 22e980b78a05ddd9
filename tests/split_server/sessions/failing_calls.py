"""Calls that fail: each one in the server's code, once, while it works inside a function."""

from __future__ import annotations

import errno
import gc
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_PACKAGES = ("split_server", "split_wire")
# What undoes or ends is not what fails: a lock that cannot be let go of is no failure of a step.
# Weak references call ``_remove`` whenever memory is collected.
_NOT_FAILING = frozenset({"__aexit__", "__exit__", "release", "_remove"})


class FailingCalls:
    """Has the first call fail that has not failed yet, inside ``function`` or what that calls.

    ``tried``: the places in the code whose calls have failed; ``failed``: the call that failed
    last, "" when none was left.
    """

    def __init__(self, function: str) -> None:
        self._function = function
        self.tried: set[tuple[str, int, str]] = set()
        self.failed = ""

    @contextmanager
    def active(self) -> Iterator[None]:
        """Watch the calls of this thread.

        Nothing is collected meanwhile: what collecting calls is of whatever was left by then, and a
        failure in it reaches nobody.
        """
        self.failed = ""
        collecting = gc.isenabled()
        gc.disable()
        sys.setprofile(self._watch)
        try:
            yield
        finally:
            sys.setprofile(None)
            if collecting:
                gc.enable()

    def _watch(self, frame: FrameType, event: str, argument: Any) -> None:
        if self.failed:
            return
        caller = frame if event == "c_call" else frame.f_back
        if event not in ("call", "c_call") or caller is None or not self._inside(caller):
            return
        name = argument.__name__ if event == "c_call" else frame.f_code.co_name
        # Resuming a coroutine looks like a call of it.
        resumed = event == "call" and frame.f_code.co_flags & inspect.CO_COROUTINE
        if name in _NOT_FAILING or resumed:
            return
        place = (caller.f_code.co_filename, caller.f_lineno, name)
        if place not in self.tried:
            self.tried.add(place)
            self.failed = f"{name} in {caller.f_code.co_name}"
            raise OSError(errno.EMFILE, "Too many open files")

    def _inside(self, caller: FrameType) -> bool:
        if not str(caller.f_globals.get("__name__", "")).startswith(_PACKAGES):
            return False
        frame: FrameType | None = caller
        while frame is not None:
            if frame.f_code.co_name == self._function:
                return True
            frame = frame.f_back
        return False
