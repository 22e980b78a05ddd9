"""The states of one reply, corrected by an encrypted adapter under keys for this reply alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from split_client.crypto.errors import AdapterHostRefused, AdapterHostUnstable
from split_client.crypto.session import HostSession

_Answer = TypeVar("_Answer")
# The host was restarted, dropped the session, or counts otherwise: a new one repairs it.
_SESSION_LOST = frozenset({"unknown_session", "key_missing", "key_conflict", "query_conflict"})
MAX_REKEYS = 3
MAX_STATE = 2.0**30
"""Where an adapted state saturates. Whether a reply stops must not depend on a product, which a
dishonest host chooses; from here float32 logits do not overflow under any ordinary LM head."""


class Adapter(Protocol):
    """What a reply needs of its adapter."""

    def open(self) -> HostSession:
        """A session with new keys."""

    def asked(self) -> None:
        """A state is asked for: masks are made when no more are."""

    def prepare_next(self) -> None:
        """Have the next reply's keys made, and masks where they are wanted."""

    def end(self, session: HostSession) -> None:
        """Have the host told that it is not needed any more."""


class AdaptedReply:
    """``scaled_b``: scale * B [H, r]. The session is opened again when the host has lost it."""

    def __init__(
        self, adapter: Adapter, scaled_b: NDArray[np.float64], session: HostSession | None
    ) -> None:
        self._adapter, self._scaled_b, self._session = adapter, scaled_b, session
        self._states = 0

    def prepare(self) -> None:
        """Agree on keys, unless that is done. Raises the errors of ``crypto.errors``."""
        self._with_session(lambda _: None)

    def __call__(self, hidden: NDArray[np.float32]) -> NDArray[np.float32]:
        """The hidden state [H] with the adapter applied, in float64 up to the last rounding.

        Raises the errors of ``crypto.errors``; it never returns a state without the adapter.
        """
        self._adapter.asked()
        if self._states == 1:
            # Not before: the first token, head and sampler included, waits for nothing else.
            self._adapter.prepare_next()
        product = self._with_session(lambda session: session.product(hidden))
        self._states += 1
        corrected = hidden.astype(np.float64) + self._scaled_b @ product
        return np.clip(corrected, -MAX_STATE, MAX_STATE).astype(np.float32)

    def end(self) -> None:
        """Forget the keys; safe to call twice. A later state has new ones."""
        session = self._taken_away()
        if session is not None:
            self._adapter.end(session)

    def _with_session(self, work: Callable[[HostSession], _Answer]) -> _Answer:
        for _ in range(1 + MAX_REKEYS):
            try:
                if self._session is None:
                    self._session = self._adapter.open()
                return work(self._session)
            except AdapterHostRefused as refused:
                self._taken_away()
                if refused.refusal not in _SESSION_LOST:
                    raise
            except BaseException:
                # Whether the host took the query is unknown; its number must not be used again.
                self._taken_away()
                raise
        raise AdapterHostUnstable

    def _taken_away(self) -> HostSession | None:
        """The session, which no state uses any more, nor its masks."""
        session, self._session = self._session, None
        if session is not None:
            session.masks.clear()
        return session
