"""What every error that travels has, and how a device receives one."""

from __future__ import annotations


class SplitError(Exception):
    """Base of the tree. ``retry_after`` is in seconds, None when the server names no delay."""

    code: str = "internal_error"
    status: int = 400
    retryable: bool = False
    retry_after: float | None = None


class RemoteError(SplitError):
    """An error that a server sent, as the device received it: compare ``code``.

    ``code`` may be one that this version does not know. ``status`` is not transmitted in a frame.
    """

    def __init__(
        self, code: str, message: str, *, retryable: bool, retry_after: float | None = None
    ) -> None:
        self.code = self.remote_code = code
        self.retryable = self.remote_retryable = retryable
        self.retry_after = retry_after
        super().__init__(f"{message} [{code}]")
