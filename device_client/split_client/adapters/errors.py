"""Errors of adapters on the device."""

from __future__ import annotations

from collections.abc import Iterable

from split_client.errors import ClientError


class UnknownAdapter(ClientError):
    """A name that no adapter here has."""

    code = "unknown_adapter"

    def __init__(self, name: str, known: Iterable[str]) -> None:
        names = ", ".join(known) or "none"
        super().__init__(f"no adapter is called {name[:40]!r}; there are: {names}")


class AdapterListInvalid(ClientError):
    """A list of adapters that cannot be believed; nothing of it is used."""

    code = "adapter_list_invalid"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"the server's list of adapters cannot be used: {reason}; "
            "go on without --adapter, or use another server"
        )
