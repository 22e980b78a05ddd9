"""Waiting in tests: for as long as a busy machine may take, and not for any fixed time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from split_server.pairing.pairing import Pairing
from split_server.security.hanging_up import hang_up

# Only a test that fails waits so long: other work may make a machine many times slower.
PATIENCE = 60.0
_PAUSE = 0.01


def until(true: Callable[[], object]) -> None:
    """Return once ``true()`` is so, which another thread or process will see to."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, "in vain"
        threading.Event().wait(_PAUSE)


def patient_with(pairing: Pairing | None, patch: pytest.MonkeyPatch) -> None:
    """Have it known who is paired, and a device that is cut off told why, however long a busy
    machine takes for its look at the book and for its goodbye.
    """
    assert pairing is not None
    patch.setattr(pairing.known._looks, "_patience", PATIENCE)
    patch.setattr("split_server.pairing.known.FRESH", PATIENCE)
    patch.setattr("split_server.security.leases.hang_up", partial(hang_up, seconds=PATIENCE))


def logged(caplog: pytest.LogCaptureFixture, words: str) -> str:
    """All that was logged, once ``words`` are there: the line of a request is written after its
    answer has left.
    """
    until(lambda: words in _text(caplog))
    return _text(caplog)


def _text(caplog: pytest.LogCaptureFixture) -> str:
    """What servers logged; the clients in this very process log what they send."""
    ours = [record for record in list(caplog.records) if not _clients(record)]
    return "\n".join(f"{record.getMessage()}\n{record.exc_text or ''}" for record in ours)


def _clients(record: logging.LogRecord) -> bool:
    return record.name.startswith(("httpx", "httpcore", "websockets.client"))
