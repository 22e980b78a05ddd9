"""Redeeming a pairing code for a device's own token."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from split_server.pairing.attempts import Attempts
from split_server.pairing.codes import PairingCodes
from split_server.pairing.devices import Device, DeviceBook
from split_server.pairing.errors import PairingRefused
from split_server.pairing.known import KnownDevices
from split_server.pairing.local_ca import LocalAuthority
from split_server.pairing.state import StateFolder


@dataclass(frozen=True, slots=True)
class Paired:
    """``token`` is shown to the device alone, once."""

    device: Device
    token: str


class Pairing:
    """``authority``: what devices are to trust; None with a certificate of somebody else's.

    ``balancers``: addresses that speak for many devices. ``known``: who is paired, for whoever may
    not wait for files.
    """

    def __init__(
        self,
        state: StateFolder,
        authority: LocalAuthority | None,
        clock: Callable[[], float] = time.time,
        balancers: Collection[str] = (),
    ) -> None:
        self.devices = DeviceBook(state)
        self.known = KnownDevices(self.devices)
        self.codes = PairingCodes(state)
        self.authority = authority
        self._state, self._clock = state, clock
        self._attempts = Attempts(state, clock, balancers)

    def redeem(self, code: str, name: str, address: str = "") -> Paired:
        """A token for the device called ``name`` at ``address``.

        It blocks on files: call it on a thread.

        Raises PairingBusy, PairingRefused, StateUnusable.
        """
        # A disk that is not there must not be written to in its place.
        self._state.require_there()
        with self._attempts.counted(address):
            if not self.codes.redeem(code, self._clock()):
                raise PairingRefused
            return Paired(*self.devices.add(name, self._clock()))

    def principal(self, token: str) -> str | None:
        """The principal of ``token``, None when no paired device has it; it blocks on files.

        Raises StateUnusable.
        """
        device = self.devices.identify(token)
        return None if device is None else device.principal
