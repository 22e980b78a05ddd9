"""The turn of one process among those that want the same model: a pull of another is waited for.

Two first starts with one cache folder fetch once. Whoever only uses the model is in nobody's way,
unless something of it has to be fetched again.
"""

from __future__ import annotations

from collections.abc import Callable

from split_client.errors import ModelInUse
from split_client.weights.locks import Lock
from split_client.weights.store import ModelStore

# Without a byte more on the disk: a chunk over a slow line takes minutes, and so does a disk that
# checks what an earlier pull left.
PATIENCE = 600.0
_EVERY = 0.2
# Others look whether there is something to do and hold the model for a moment.
_MOMENT = 3.0


class Turn:
    """``arrived`` says how many bytes another pull has brought, ``waiting`` is told them.

    ``patience``: seconds for which another pull may bring nothing; 0 waits for nobody.
    """

    def __init__(
        self,
        store: ModelStore,
        digest: str,
        pause: Callable[[float], None],
        *,
        patience: float = PATIENCE,
        arrived: Callable[[], int] = lambda: 0,
        waiting: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._store, self._digest = store, digest
        self._pause, self._patience = pause, patience
        self._arrived, self._waiting = arrived, waiting
        # Whether another process had the model alone meanwhile, and so may have pulled it.
        self.waited = False

    def use(self) -> Lock:
        """Hold the model with others, once nobody has it alone. Raises ModelInUse."""
        left, most = self._patience, -1
        while True:
            try:
                return self._store.use(self._digest)
            except ModelInUse:
                bytes_now = self._arrived()
                if bytes_now > most:
                    left, most = self._patience, bytes_now
                if left <= 0:
                    raise
                self.waited = True
                self._waiting(bytes_now)
                left -= _EVERY
                self._pause(_EVERY)

    def claim(self) -> Lock | None:
        """Hold the model alone; None where another process did meanwhile, so that it is time to
        look again. Raises ModelInUse where others use it.
        """
        left = min(_MOMENT, self._patience)
        while True:
            try:
                return self._store.claim(self._digest)
            except ModelInUse:
                if left <= 0:
                    raise
                if self._has_it_alone():
                    return None
                left -= _EVERY
                self._pause(_EVERY)

    def _has_it_alone(self) -> bool:
        try:
            self._store.use(self._digest).release()
        except ModelInUse:
            return True
        return False
