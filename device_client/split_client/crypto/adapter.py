"""One encrypted adapter on the device: ``h + scale * B (A h)``, where the host computes A h."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

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
from split_he.layout import Packing

_Answer = TypeVar("_Answer")
# The host was restarted, dropped the session, or counts otherwise: a new one repairs it.
_SESSION_LOST = frozenset({"unknown_session", "key_missing", "key_conflict", "query_conflict"})
MAX_REKEYS = 3
MAX_SCALED_B = 2.0**20
"""Largest magnitude in scale * B; those of adapters that were trained are around 1."""
MAX_STATE = 2.0**30
"""Where an adapted state saturates. Whether a reply stops must not depend on a product, which a
dishonest host chooses; from here float32 logits do not overflow under any ordinary LM head."""


class HostedAdapter:
    """B is fetched once and kept; the session is opened again when the host has lost it.

    The first packing is kept for good: a host that could state another bound on the norm for each
    new session would find the norm of a state by which of them it is refused under.
    """

    def __init__(self, link: HostLink, about: AdapterInfo) -> None:
        self._link, self.about = link, about
        self._scaled_b: NDArray[np.float64] | None = None
        self._session: HostSession | None = None
        self._agreed: Packing | None = None
        self.sessions_opened = 0

    def prepare(self) -> None:
        """Fetch B and agree on keys, unless that is done.

        Raises the errors of ``crypto.errors``.
        """
        self._b()
        self._with_session(lambda _: None)

    def correct(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """The hidden state [H] with the adapter applied, in float64 up to the last rounding.

        Raises the errors of ``crypto.errors``; it never returns a state without the adapter.
        """
        scaled_b = self._b()
        product = self._with_session(lambda session: session.product(hidden))
        corrected = hidden.astype(np.float64) + scaled_b @ product
        return np.clip(corrected, -MAX_STATE, MAX_STATE).astype(np.float32)

    def _with_session(self, work: Callable[[HostSession], _Answer]) -> _Answer:
        for _ in range(1 + MAX_REKEYS):
            try:
                return work(self._opened())
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
            scaled = self.about.scale * _fetched(self._link, self.about)
            if np.abs(scaled).max() > MAX_SCALED_B:
                raise AdapterHostInvalid(f"scale * B has values beyond {MAX_SCALED_B:g}")
            self._scaled_b = scaled
        return self._scaled_b

    def _opened(self) -> HostSession:
        if self._session is None:
            self._session = HostSession.open(self._link, self.about, agreed=self._agreed)
            self._agreed = self._session.plan
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
