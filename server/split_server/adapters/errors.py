"""Errors that keep an adapter from being loaded."""

from __future__ import annotations

from split_server.errors import ServerError


class AdapterUnusable(ServerError):
    """A folder that holds no adapter for the model that is served."""

    code = "adapter_unusable"

    def __init__(self, folder: str, reason: str) -> None:
        self.folder, self.reason = folder, reason
        super().__init__(f"the adapter in {folder!r} cannot be used: {reason}")


class AdaptersNotFound(ServerError):
    """No such folder of adapters."""

    code = "adapters_not_found"

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(
            f"there are no adapters in {folder!r}: {reason}; --adapters names a folder "
            "with one folder per adapter"
        )
