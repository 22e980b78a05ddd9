"""An event loop on a thread of its own, for callers that block."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")


class LoopThread:
    """Runs from the start until :meth:`close`."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        # A daemon: an engine that nobody closed must not keep the program from ending.
        self._thread = threading.Thread(target=self._run, name="local-engine", daemon=True)
        self._thread.start()

    def result(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Return or raise what ``work`` does on the loop; an interrupt here cancels it there."""
        answer = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return answer.result()
        except BaseException:
            answer.cancel()
            raise

    def close(self) -> None:
        """End loop and thread; nothing may be under way."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
