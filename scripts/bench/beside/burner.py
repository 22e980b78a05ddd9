"""A process that uses up one core on request: ``python -m scripts.bench.beside.burner``.

Requests: ``burn``, ``rest``. It ends with its standard input, so it outlives nobody.
"""

from __future__ import annotations

import threading
from typing import Any

from scripts.bench.workers import Operations, serve


class BurnerWorker(Operations):
    """Burns in one thread from ``burn`` to ``rest``."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def burn(self) -> dict[str, Any]:
        """Begin."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._burn, daemon=True)
        self._thread.start()
        return {}

    def rest(self) -> dict[str, Any]:
        """End."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        return {}

    def _burn(self) -> None:
        while not self._stop.is_set():
            pass


if __name__ == "__main__":
    serve(BurnerWorker().handle)
