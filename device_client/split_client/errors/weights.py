"""Errors of weights: what is offered, fetched and stored."""

from __future__ import annotations

from split_client.errors.base import ClientError


class ManifestInvalid(ClientError):
    """The manifest of the weights is not one that this client accepts."""

    code = "manifest_invalid"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the server's weights manifest is refused: {reason}")


class ChecksumMismatch(ClientError):
    """Downloaded bytes are not those that the manifest names."""

    code = "checksum_mismatch"

    def __init__(self, file: str, chunk: int) -> None:
        self.file, self.chunk = file, chunk
        super().__init__(
            f"chunk {chunk} of {file} has a wrong checksum; nothing of it was kept, pull again "
            "and tell the server's owner if it stays"
        )


class DownloadFailed(ClientError):
    """The weights could not be fetched; what arrived is kept."""

    code = "download_failed"

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"cannot fetch {file}: {reason}; pull again to continue where it stopped")


class NotEnoughSpace(ClientError):
    """The disk cannot hold the weights (sizes in bytes); nothing was fetched."""

    code = "not_enough_space"

    def __init__(self, needed: int, free: int, folder: str) -> None:
        self.needed, self.free = needed, free
        super().__init__(
            f"the weights need {needed / 1e6:.1f} MB and {free / 1e6:.1f} MB are free in {folder}; "
            "make room (split-client pull --list, --remove) or set SPLIT_CACHE to another folder"
        )


class DiskFull(ClientError):
    """The disk filled up while pulling; what arrived is kept."""

    code = "disk_full"

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(
            f"cannot write to {folder}: {reason}; make room or set SPLIT_CACHE to another folder, "
            "then pull again to continue where it stopped"
        )


class StoreFailed(ClientError):
    """The cache folder cannot be read or written."""

    code = "store_failed"

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(
            f"cannot use the cache folder {folder}: {reason}; set SPLIT_CACHE to another folder"
        )


class ModelInUse(ClientError):
    """Another process pulls, removes or uses the model."""

    code = "model_in_use"

    def __init__(self, digest: str) -> None:
        super().__init__(
            f"model {digest[:12]} is in use by another process; wait for it to end, then try again"
        )


class ModelUnknown(ClientError):
    """No stored model, or more than one, answers to a name."""

    code = "model_unknown"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name!r}: {reason}; see split-client pull --list")
