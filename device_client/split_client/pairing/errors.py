"""Errors of pairing: why a device cannot be paired."""

from __future__ import annotations

from split_client.errors import ClientError


class LinkInvalid(ClientError):
    """Text that is neither a pairing link nor an address with a code."""

    code = "link_invalid"

    def __init__(self) -> None:
        super().__init__(
            "this is not a pairing link; copy the whole link that split-server pair shows, in "
            "quotes: split-client pair 'https://HOST:PORT/pair#CODE...'"
        )


class WrongAuthority(ClientError):
    """The server at this address is not the one that made the link."""

    code = "wrong_authority"

    def __init__(self) -> None:
        super().__init__(
            "the server's certificate authority is not the one of the link: something else answers "
            "at this address, or the link is of another server; nothing was sent to it"
        )


class FingerprintNotConfirmed(ClientError):
    """A code without a fingerprint, and nobody confirmed what the server shows."""

    code = "fingerprint_not_confirmed"

    def __init__(self) -> None:
        super().__init__("not paired; use the whole link, which holds the server's fingerprint")


class PairingFailed(ClientError):
    """The server did not give a token."""

    code = "pairing_failed"
