"""Errors of pairing: why a server cannot keep its own state, and why a device is not paired."""

from __future__ import annotations

from pathlib import Path

from split_server.errors import ServerError
from split_wire.errors import SplitError


class StateUnusable(ServerError):
    """The folder of keys, certificates and devices cannot be read or written."""

    code = "state_unusable"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}; repair it, or name another folder with --state")


class CertificateUnusable(ServerError):
    """A certificate or key that was given cannot be used for TLS."""

    code = "certificate_unusable"


class UnknownDevice(ServerError):
    """A device that is not paired was to be revoked."""

    code = "unknown_device"

    def __init__(self, name: str) -> None:
        super().__init__(f"no paired device is called {name!r}; split-server devices lists them")


class PairingRefused(SplitError):
    """The code is wrong, used, expired or was tried too often; which of them is not told."""

    code = "pairing_refused"
    status = 403

    def __init__(self) -> None:
        super().__init__(
            "this pairing code is wrong, used or expired; run split-server pair for another"
        )


class StateUnavailable(SplitError):
    """Who is paired cannot be read or written at present, so nobody is let in by that."""

    code = "state_unavailable"
    status = 503
    retryable = True
    retry_after = 5.0

    def __init__(self) -> None:
        super().__init__(
            "the server cannot use the folder that says which devices are paired; try again in a "
            "moment, and if it stays so, have its operator look at --state"
        )


class PairingBusy(SplitError):
    """Too many attempts within a minute."""

    code = "pairing_busy"
    status = 429
    retryable = True

    def __init__(self, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__("too many pairing attempts; wait a minute")
