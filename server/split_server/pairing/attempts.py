"""Wrong codes, counted by the address that they came from."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from split_server.pairing.errors import PairingBusy, PairingRefused
from split_server.security.networks import network_of

ATTEMPTS_PER_MINUTE = 10
MAX_ADDRESSES = 4096
_MINUTE = 60.0


class Attempts:
    """At most ten of an address that failed within a minute, so that nobody uses up another's.

    ``exempt``: addresses that speak for many others; how often a code may be tried holds for them
    as well. ``clock`` in seconds.
    """

    def __init__(self, clock: Callable[[], float], exempt: Collection[str] = ()) -> None:
        self._clock = clock
        self._exempt = frozenset(network_of(one) for one in exempt)
        self._lock = threading.Lock()
        # The address that tried last at the end.
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        """Addresses with attempts that count."""
        return len(self._failed)

    def clear(self) -> None:
        """Forget them all."""
        self._failed.clear()

    @contextmanager
    def counted(self, address: str) -> Iterator[None]:
        """One attempt, which counts from its beginning unless it ends well.

        Raises PairingBusy.
        """
        network = network_of(address)
        if network in self._exempt:
            yield
            return
        begun = self._begin(network)
        try:
            yield
        except PairingRefused:
            raise
        except BaseException:
            self._forgive(network, begun)
            raise
        else:
            self._forgive(network, begun)

    def _begin(self, network: str) -> float:
        with self._lock:
            now = self._clock()
            mine = self._failed.setdefault(network, deque(maxlen=ATTEMPTS_PER_MINUTE))
            self._failed.move_to_end(network)
            if len(mine) == ATTEMPTS_PER_MINUTE and now - mine[0] < _MINUTE:
                raise PairingBusy(_MINUTE - (now - mine[0]))
            mine.append(now)
            while len(self._failed) > MAX_ADDRESSES:
                self._failed.popitem(last=False)
            return now

    def _forgive(self, network: str, begun: float) -> None:
        with self._lock:
            mine = self._failed.get(network)
            if mine is None or begun not in mine:
                return
            mine.remove(begun)
            if not mine:
                del self._failed[network]
