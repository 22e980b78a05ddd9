"""CKKS in a worker: prepared adapters, keys of its sessions, blinds made while nothing waits."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from split_he.blinds import HostKey
from split_he.errors import HeError, MalformedCiphertext, MalformedKey
from split_he.host import HostAdapter
from split_he.layout import Packing
from split_he.params import N
from split_masks import numbers
from split_masks.host import evaluate
from split_server.adapter_host.evaluator import Refused

# A device asks for one reply after the other; more than a few ready are for bursts.
READY_BLINDS = 4
_VALUE_BYTES = 8


class CkksEvaluator:
    """``blind_bytes``: what all blinds together may take; the sessions used last have theirs."""

    def __init__(self, blind_bytes: int) -> None:
        self._blind_bytes = blind_bytes
        self._adapters: dict[str, HostAdapter] = {}
        # From the longest unused to the last used.
        self._sessions: OrderedDict[bytes, tuple[HostAdapter, HostKey]] = OrderedDict()

    def load(self, name: str, packing: dict[str, Any], a: bytes) -> None:
        """Prepare A float32 [r, H]."""
        plan = Packing.parse(packing)
        matrix = np.frombuffer(a, dtype="<f4").reshape(plan.rank, plan.hidden)
        self._adapters[name] = HostAdapter.prepare(matrix, plan=plan)

    def key(self, session: bytes, name: str, nonces: tuple[bytes, bytes], public: bytes) -> None:
        """Begin a session. Raises Refused."""
        adapter = self._adapters[name]
        try:
            key = adapter.evaluator(public, *nonces)
        except MalformedKey as error:
            raise Refused(error.code) from None
        self._sessions[session] = adapter, key

    def evaluate(self, session: bytes, query: bytes) -> bytes:
        """The reply to one query. Raises Refused."""
        adapter, key = self._sessions[session]
        try:
            reply = adapter.evaluate(query, key)
        except MalformedCiphertext as error:
            raise Refused(error.code) from None
        self._sessions.move_to_end(session)
        return reply

    def mask(self, session: bytes, query: bytes) -> bytes:
        """The reply to an encrypted r, and s behind it. Raises Refused."""
        adapter, key = self._sessions[session]
        try:
            reply, kept = evaluate(adapter, query, key)
        except MalformedCiphertext as error:
            raise Refused(error.code) from None
        self._sessions.move_to_end(session)
        return reply + numbers.pack(kept)

    def drop(self, session: bytes) -> None:
        """Forget a session and its blinds."""
        self._sessions.pop(session, None)

    def idle(self) -> bool:
        """Make one blind for the session used last that lacks one, while there is room."""
        room = self._blind_bytes
        for adapter, key in reversed(self._sessions.values()):
            size = 2 * adapter.packing.groups * N * _VALUE_BYTES
            room -= READY_BLINDS * size
            if room < 0:
                return self._shrink()
            if key.blinds < READY_BLINDS:
                return _refilled(key)
        return False

    def _shrink(self) -> bool:
        """Take blinds from the session that was not used for longest, to stay within the bytes."""
        held = sum(
            key.blinds * 2 * adapter.packing.groups * N * _VALUE_BYTES
            for adapter, key in self._sessions.values()
        )
        if held <= self._blind_bytes:
            return False
        for _, key in self._sessions.values():
            if key.blinds:
                key.take()
                return True
        return False


def _refilled(key: HostKey) -> bool:
    try:
        key.refill(1)
    except HeError:
        return False
    return True
