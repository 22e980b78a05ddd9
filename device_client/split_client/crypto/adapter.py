"""One encrypted adapter on the device: ``h + scale * B (A h)``, where the host computes A h."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from split_client.adapters.choice import AdapterInfo
from split_client.crypto.errors import (
    AdapterHostInvalid,
    AdapterHostRefused,
    AdapterHostUnstable,
)
from split_client.crypto.link import HostLink
from split_client.crypto.session import HostSession

# The host was restarted, dropped the session, or counts otherwise: a new one repairs it.
_SESSION_LOST = frozenset({"unknown_session", "key_missing", "key_conflict", "query_conflict"})
MAX_REKEYS = 3


class HostedAdapter:
    """B is fetched once and kept; the session is opened again when the host has lost it."""

    def __init__(self, link: HostLink, about: AdapterInfo) -> None:
        self._link, self.about = link, about
        self._scaled_b: NDArray[np.float64] | None = None
        self._session: HostSession | None = None
        self.sessions_opened = 0

    def prepare(self) -> None:
        """Fetch B and agree on keys, unless that is done.

        Raises the errors of ``crypto.errors``.
        """
        self._b()
        self._opened()

    def correct(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """The hidden state [H] with the adapter applied, in float64 up to the last rounding.

        Raises the errors of ``crypto.errors``; it never returns a state without the adapter.
        """
        change = self._b() @ self._product(hidden)
        corrected = (hidden.astype(np.float64) + change).astype(np.float32)
        if not np.isfinite(corrected).all():
            raise AdapterHostInvalid("the adapted hidden state is not finite")
        return corrected

    def _product(self, hidden: NDArray[np.float32]) -> NDArray[np.float64]:
        for _ in range(1 + MAX_REKEYS):
            try:
                return self._opened().product(hidden)
            except AdapterHostRefused as refused:
                self._session = None
                if refused.refusal not in _SESSION_LOST:
                    raise
            except BaseException:
                # Whether the host took the query is unknown; its number must not be used again.
                self._session = None
                raise
        raise AdapterHostUnstable

    def _b(self) -> NDArray[np.float64]:
        """scale * B."""
        if self._scaled_b is None:
            self._scaled_b = self.about.scale * _fetched(self._link, self.about)
        return self._scaled_b

    def _opened(self) -> HostSession:
        if self._session is None:
            self._session = HostSession.open(self._link, self.about)
            self.sessions_opened += 1
        return self._session


def _fetched(link: HostLink, about: AdapterInfo) -> NDArray[np.float64]:
    """B float64 [H, r]. Raises AdapterHostInvalid and what asking raises."""
    size = 4 * about.hidden_size * about.rank
    data = link.ask("GET", f"/{about.name}/b", size)
    if len(data) != size:
        raise AdapterHostInvalid(f"B has {len(data)} bytes where {size} are needed")
    b = np.frombuffer(data, dtype="<f4").reshape(about.hidden_size, about.rank).astype(np.float64)
    if not np.isfinite(b).all():
        raise AdapterHostInvalid("B has values that are not finite")
    return b
