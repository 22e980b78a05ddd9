"""Redeeming a pairing code for a device's own token."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from split_server.pairing.codes import PairingCodes
from split_server.pairing.devices import Device, DeviceBook
from split_server.pairing.errors import PairingBusy, PairingRefused
from split_server.pairing.local_ca import LocalAuthority
from split_server.pairing.state import StateFolder

ATTEMPTS_PER_MINUTE = 10
_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Paired:
    """``token`` is shown to the device alone, once."""

    device: Device
    token: str


class Pairing:
    """``authority``: what devices are to trust; None with a certificate of somebody else's."""

    def __init__(
        self,
        state: StateFolder,
        authority: LocalAuthority | None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.devices = DeviceBook(state)
        self.codes = PairingCodes(state)
        self.authority = authority
        self._clock = clock
        self._attempts: deque[float] = deque(maxlen=ATTEMPTS_PER_MINUTE)
        self._lock = threading.Lock()

    def redeem(self, code: str, name: str) -> Paired:
        """A token for the device called ``name``. It blocks on files: call it on a thread.

        Raises PairingBusy, PairingRefused, StateUnusable.
        """
        self._count()
        if not self.codes.redeem(code, self._clock()):
            raise PairingRefused
        return Paired(*self.devices.add(name, self._clock()))

    def principal(self, token: str) -> str | None:
        """The principal of ``token``, None when no paired device has it. Raises StateUnusable."""
        device = self.devices.identify(token)
        return None if device is None else device.principal

    def _count(self) -> None:
        """Attempts of everybody together, since an address costs an attacker on a LAN nothing."""
        with self._lock:
            now = self._clock()
            if len(self._attempts) == ATTEMPTS_PER_MINUTE and now - self._attempts[0] < _MINUTE:
                raise PairingBusy(_MINUTE - (now - self._attempts[0]))
            self._attempts.append(now)
