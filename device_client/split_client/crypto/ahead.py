"""Requests to an adapter host that no reply waits for: a thread and a connection of their own.

Work is done one piece after the other. The thread ends when nothing was to be done for a while and
never keeps the process from ending.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeAlias, TypeVar

from split_client.crypto.link import HostLink
from split_client.errors import Cancelled
from split_client.transport.base import Traffic

_Made = TypeVar("_Made")
_Piece: TypeAlias = Callable[[HostLink], None]
# More than what replies of one client ask for while a host answers nothing.
MOST_WAITING = 32
_IDLE_SECONDS = 30.0
_CLOSE_SECONDS = 0.5


class Ahead:
    """``link`` makes the connection; it is given what waits, and raises Cancelled after a close."""

    def __init__(self, link: Callable[[Callable[[float], None]], HostLink]) -> None:
        self._closed = threading.Event()
        self._link = link(self._pause)
        self._waiting: queue.Queue[_Piece] = queue.Queue(MOST_WAITING)
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ending = False

    @property
    def traffic(self) -> Traffic:
        """What was sent and received."""
        return self._link.traffic

    def begin(self, work: Callable[[HostLink], _Made]) -> Future[_Made]:
        """What ``work`` returns or raises, some time; cancelled where too much waits already."""
        made: Future[_Made] = Future()
        with self._guard:
            if self._ending or self._waiting.full():
                made.cancel()
                return made
            self._waiting.put_nowait(lambda link: _do(made, work, link))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="adapter-keys", daemon=True)
                self._thread.start()
        return made

    def close(self) -> None:
        """Begin nothing more, wait a moment for what was begun, then give it up.

        Safe to call twice. The connection closes with the piece that is under way.
        """
        with self._guard:
            thread, again = self._thread, self._ending
            self._ending = True
        if thread is None:
            self._link.close()
        elif not again:
            with contextlib.suppress(queue.Full):
                self._waiting.put_nowait(lambda _: self._closed.set())
            thread.join(_CLOSE_SECONDS)
            self._closed.set()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                piece = self._waiting.get(timeout=_IDLE_SECONDS)
            except queue.Empty:
                with self._guard:
                    if self._waiting.empty() and not self._ending:
                        self._thread = None
                        return
            else:
                piece(self._link)
        self._link.close()

    def _pause(self, seconds: float) -> None:
        if self._closed.wait(seconds):
            raise Cancelled


def _do(made: Future[_Made], work: Callable[[HostLink], _Made], link: HostLink) -> None:
    if not made.set_running_or_notify_cancel():
        return
    try:
        made.set_result(work(link))
    # Whoever asks for the result is told, whatever it is.
    except BaseException as error:  # noqa: BLE001
        made.set_exception(error)
