"""Errors of encrypted adapters on the device, a branch of the client's tree::

    AdapterHostError
    ├── AdapterHostUnreachable      no answer within the time allowed
    ├── AdapterHostRefused          the host answered with an error; its code is the host's
    ├── AdapterHostInvalid          the host's answer breaks the protocol and is not used
    ├── AdapterHostUnstable         the host loses its sessions again and again
    ├── AdapterOutOfRange           a hidden state is larger than the host computes with
    └── EncryptionUnavailable       the library for keys is not installed

None of them lets a reply go on without the adapter that was asked for.
"""

from __future__ import annotations

from split_client.errors import ClientError


class AdapterHostError(ClientError):
    """Base of the branch."""

    code = "adapter_host_error"


class AdapterHostUnreachable(AdapterHostError):
    """No answer of the host within the time allowed; ``stays``: waiting longer mends nothing."""

    code = "adapter_host_unreachable"

    def __init__(self, address: str, reason: str, *, stays: bool = False) -> None:
        self.stays = stays
        super().__init__(
            f"cannot reach the adapter host {address}: {reason}; the reply stops, because it would "
            "go on without its adapter: start the host, or choose --adapter none"
        )


class AdapterHostRefused(AdapterHostError):
    """The host answered with an error. ``code`` is the host's, a refused token's a code of ours."""

    def __init__(self, code: str, message: str) -> None:
        self.refusal = code
        self.code = code
        if code == "unauthorized":
            self.code = "adapter_host_unauthorized"
            message = "a valid token is needed: --adapter-token, or SPLIT_CLIENT_ADAPTER_TOKEN"
        super().__init__(f"the adapter host refuses: {message}")


class AdapterHostInvalid(AdapterHostError):
    """An answer of the wrong form, size or value."""

    code = "adapter_host_invalid"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the adapter host's answer cannot be used: {reason}; update both ends, or use another"
        )


class AdapterHostUnstable(AdapterHostError):
    """The host loses what it was just sent, again and again."""

    code = "adapter_host_unstable"

    def __init__(self) -> None:
        super().__init__("the adapter host keeps losing its sessions; try again later")


class AdapterOutOfRange(AdapterHostError):
    """A hidden state beyond what the host promised to compute with."""

    code = "adapter_out_of_range"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"{reason}; the reply stops here: the host's operator can raise --activation-rms, "
            "which this client takes up when it is started again"
        )


class EncryptionUnavailable(AdapterHostError):
    """The library that makes the keys is missing."""

    code = "encryption_unavailable"

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
