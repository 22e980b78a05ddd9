"""Upkeep beside a running server: tokens that were taken back, certificates that run out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias

from split_server.looks import Looks
from split_server.pairing.certificate import LanCertificate
from split_server.pairing.errors import StateUnusable
from split_server.pairing.pairing import Pairing
from split_server.security.access import AccessPolicy
from split_server.security.leases import LOCKED_OUT, Leases
from split_server.security.principal import ANONYMOUS, DEVICE_PREFIX, LOCAL
from split_server.security.tokens import TokenBook

REVOCATION_SECONDS = 0.25
CERTIFICATE_SECONDS = 60.0
_log = logging.getLogger(__name__)

# Drops what belongs to the principals that its argument is true for.
Forget: TypeAlias = Callable[[Callable[[str], bool]], None]
# What runs beside a server until it is cancelled.
Upkeep: TypeAlias = Callable[[], Coroutine[Any, Any, None]]


def is_named(principal: str) -> bool:
    """Whether it is one that has a token."""
    return principal not in (LOCAL, ANONYMOUS)


def access_upkeep(
    policy: AccessPolicy, pairing: Pairing | None, leases: Leases, *forget: Forget
) -> Sequence[Upkeep]:
    """Cuts off whoever has no valid token any more. Where nobody knows who has one, everybody whom
    that is about is cut off as well, and what is kept of them stays until somebody knows.

    ``forget``: drop the sessions of the principals that their argument is true for.
    """
    tokens = policy.tokens
    if tokens is None:

        async def drop_the_named() -> None:
            # Nobody has a token any more: whose were kept under one has been let go.
            for drop in forget:
                drop(is_named)

        return (drop_the_named,)

    async def cut_off(looks: Looks) -> None:
        # Neither disk keeps the other one's news waiting.
        await asyncio.gather(looks.another(), _look(pairing))
        paired = frozenset() if pairing is None else pairing.known.principals()
        # Each time, since a device may have come and gone since the last one. Sessions first: what
        # they hold is what the others wait for.
        for drop in forget:
            drop(lambda name: _gone(name, tokens, paired))
        if paired is None:
            leases.keep(lambda held: not held.is_device, LOCKED_OUT)
        leases.keep(lambda held: tokens.holds(held) or held.principal in (paired or ()))

    async def kept() -> None:
        looks = Looks("tokens", tokens.refresh)
        try:
            await every(REVOCATION_SECONDS, lambda: cut_off(looks))()
        finally:
            looks.close()

    return (kept,)


async def _look(pairing: Pairing | None) -> None:
    if pairing is not None:
        await pairing.known.look()


def _gone(name: str, tokens: TokenBook, paired: frozenset[str] | None) -> bool:
    """Whether the principal is known to have no token; ``paired``: devices, None: nobody knows."""
    if name.startswith(DEVICE_PREFIX):
        return paired is not None and name not in paired
    return tokens.readable and not tokens.has(name)


def certificate_upkeep(certificate: LanCertificate | None) -> Sequence[Upkeep]:
    """Has the certificate name the addresses that the machine has at the time."""
    if certificate is None:
        return ()

    async def renew() -> None:
        try:
            if await asyncio.to_thread(certificate.renew):
                _log.info("a new certificate names this machine's present addresses")
        except StateUnusable as error:
            _log.error("the certificate could not be renewed: %s", error)

    return (every(CERTIFICATE_SECONDS, renew),)


def every(seconds: float, work: Upkeep) -> Upkeep:
    """``work`` at once and then again after ``seconds``, for ever."""

    async def repeated() -> None:
        while True:
            await work()
            await asyncio.sleep(seconds)

    return repeated
