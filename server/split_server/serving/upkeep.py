"""What a running server keeps an eye on: devices that were revoked, certificates that run out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from split_server.pairing.errors import StateUnusable
from split_server.security.leases import Leases
from split_server.security.principal import DEVICE_PREFIX
from split_server.serving.doorway import Doorway

REVOCATION_SECONDS = 0.5
CERTIFICATE_SECONDS = 60.0
_log = logging.getLogger(__name__)


class Watch:
    """``forget``: drops the sessions of the principals that its argument is true for."""

    def __init__(
        self,
        doorway: Doorway,
        leases: Leases,
        forget: Callable[[Callable[[str], bool]], None] = lambda _: None,
    ) -> None:
        self._doorway = doorway
        self._leases = leases
        self._forget = forget

    def tasks(self) -> list[Coroutine[Any, Any, None]]:
        """What is to run beside the server until it is cancelled."""
        return [
            *([] if self._doorway.pairing is None else [_every(REVOCATION_SECONDS, self.devices)]),
            *(
                []
                if self._doorway.certificate is None
                else [_every(CERTIFICATE_SECONDS, self.certificate)]
            ),
        ]

    async def devices(self) -> None:
        """Cut off whoever is not paired any more; a damaged book pairs nobody."""
        pairing = self._doorway.pairing
        if pairing is None:
            return
        try:
            paired = frozenset(device.principal for device in pairing.devices.devices())
        except StateUnusable as error:
            _log.error("paired devices are locked out: %s", error)
            paired = frozenset()
        # Each time, since a device may have come and gone since the last one.
        await self._leases.keep(paired)
        self._forget(lambda name: name.startswith(DEVICE_PREFIX) and name not in paired)

    async def certificate(self) -> None:
        """Have the certificate name the addresses that the machine has now."""
        certificate = self._doorway.certificate
        if certificate is None:
            return
        try:
            if await asyncio.to_thread(certificate.renew):
                _log.info("a new certificate names this machine's present addresses")
        except StateUnusable as error:
            _log.error("the certificate could not be renewed: %s", error)


async def _every(seconds: float, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    while True:
        await work()
        await asyncio.sleep(seconds)
