"""The errors that a request is answered with, told to whoever counts them.

An answer is written in many places, in the form that each API has; the listener travels with the
request's context, so that none of them needs to know it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias

Form: TypeAlias = Literal["frame", "http"]
Listener: TypeAlias = Callable[[Form, str], None]


def _nobody(_form: Form, _code: str) -> None:
    pass


_listener: ContextVar[Listener] = ContextVar("listener of errors", default=_nobody)


def report_error(code: str, form: Form = "http") -> None:
    """A client is told ``code``: in a split.v1 frame, or in any other form (``http``)."""
    _listener.get()(form, code)


@contextmanager
def reporting_errors(listener: Listener) -> Iterator[None]:
    """Tell ``listener`` the errors of the request that is answered within."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
