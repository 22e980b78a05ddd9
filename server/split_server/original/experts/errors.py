"""Errors that keep the adapters of the original protocol from being set up."""

from __future__ import annotations

from split_server.errors import ServerError


class AdapterNoiseUnusable(ServerError):
    """No noise gives the epsilon that was asked for."""

    code = "adapter_noise_unusable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"--adapter-noise-epsilon and --adapter-noise-clip: {reason}")
