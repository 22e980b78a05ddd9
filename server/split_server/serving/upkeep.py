"""Upkeep beside a running server: devices that were revoked, certificates that run out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias

from split_server.pairing.certificate import LanCertificate
from split_server.pairing.errors import StateUnusable
from split_server.pairing.pairing import Pairing
from split_server.security.leases import Leases
from split_server.security.principal import DEVICE_PREFIX

REVOCATION_SECONDS = 0.5
CERTIFICATE_SECONDS = 60.0
_log = logging.getLogger(__name__)

# What runs beside a server until it is cancelled.
Upkeep: TypeAlias = Callable[[], Coroutine[Any, Any, None]]


def device_upkeep(
    pairing: Pairing | None,
    leases: Leases,
    forget: Callable[[Callable[[str], bool]], None] = lambda _: None,
) -> Sequence[Upkeep]:
    """Cuts off whoever is not paired any more; a damaged book pairs nobody.

    ``forget``: drops the sessions of the principals that its argument is true for.
    """
    if pairing is None:
        return ()

    async def cut_off() -> None:
        try:
            paired = frozenset(device.principal for device in pairing.devices.devices())
        except StateUnusable as error:
            _log.error("paired devices are locked out: %s", error)
            paired = frozenset()
        # Each time, since a device may have come and gone since the last one.
        await leases.keep(paired)
        forget(lambda name: name.startswith(DEVICE_PREFIX) and name not in paired)

    return (every(REVOCATION_SECONDS, cut_off),)


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
