"""The rule that a relay must not undo: beyond loopback, only an upstream that asks for a token."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable

from split_relay.address import Address
from split_relay.probe import Proof, probe

_MAX_AGE = 30.0
_MAX_PROOFS = 16


class TokenGuard:
    """Remembers which upstream processes are proven to ask for a token.

    ``scheme``: what the last proven one speaks, ``http`` or ``https``; None before that.

    A proof counts while the connection that it was made on is open, and for at most 30 s, which
    bounds what a machine that vanished without closing anything can leave behind. Everything
    else is probed again before a byte passes.
    """

    def __init__(
        self, upstream: Address, *, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._upstream = upstream
        self._seconds = seconds
        self._clock = clock
        self._proofs: dict[tuple[object, ...], tuple[Proof, float]] = {}
        self._probing = asyncio.Lock()
        self.scheme: str | None = None

    async def check(self, connected: socket.socket) -> None:
        """Return when the process behind a connected socket is known to ask for a token.

        Called after connecting and before any byte: whoever is proven at this moment was
        listening when the connection was made, or the connection leads to a process that is
        gone. Raises :class:`split_relay.errors.UpstreamUnprotected` or
        :class:`split_relay.errors.UpstreamUnavailable`.
        """
        name = connected.getpeername()
        if self._known(name):
            return
        async with self._probing:  # a burst of connections makes one probe
            if self._known(name):
                return
            proof = await probe(connected, self._upstream, self._seconds)
            self._keep(name, proof)

    def close(self) -> None:
        for proof, _ in self._proofs.values():
            proof.close()
        self._proofs.clear()

    def _known(self, name: tuple[object, ...]) -> bool:
        if name not in self._proofs:
            return False
        proof, taken_at = self._proofs[name]
        if proof.alive() and self._clock() - taken_at < _MAX_AGE:
            return True
        self._forget(name)
        return False

    def _keep(self, name: tuple[object, ...], proof: Proof) -> None:
        self.scheme = proof.scheme
        while len(self._proofs) >= _MAX_PROOFS:
            self._forget(next(iter(self._proofs)))
        self._proofs[name] = (proof, self._clock())

    def _forget(self, name: tuple[object, ...]) -> None:
        proof, _ = self._proofs.pop(name)
        proof.close()
