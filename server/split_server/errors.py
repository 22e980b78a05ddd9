"""Errors that stop the server from starting, one tree under :class:`ServerError`.

Errors that travel to a device are in ``split_wire.errors``.
"""

from __future__ import annotations

from typing import ClassVar

from split_settings.visible import visible


class ServerError(Exception):
    """Base of the tree; ``code`` is stable, the message says what to do.

    It may name what a file says of itself; control characters in it are written out.
    """

    code: ClassVar[str] = "server_error"

    def __init__(self, message: str = "") -> None:
        super().__init__(visible(message))


class CheckpointNotFound(ServerError):
    """Neither a checkpoint folder nor a model that the hub can give."""

    code = "checkpoint_not_found"


class UnsafeCheckpoint(ServerError):
    """Weights in a format that can run code, or that ask for remote code."""

    code = "unsafe_checkpoint"


class MalformedCheckpoint(ServerError):
    """A config, index or weights file that does not hold together."""

    code = "malformed_checkpoint"


class UnsupportedFamily(ServerError):
    """An architecture that is not split here."""

    code = "unsupported_family"

    def __init__(self, family: str, supported: list[str], reason: str = "") -> None:
        why = f" ({reason})" if reason else ""
        super().__init__(
            f"models of the family {family!r} are not supported{why}; "
            f"supported: {', '.join(supported)}"
        )


class UnsupportedQuantization(ServerError):
    """Weights that were quantized in a way that is not read here."""

    code = "unsupported_quantization"

    def __init__(self, what: str) -> None:
        super().__init__(
            f"this checkpoint is quantized with {what}, which is not read here; AWQ (gemm) and "
            "GPTQ of 4 bits are, as are plain checkpoints, with --quantize on request"
        )


class NoSpaceForCheckpoint(ServerError):
    """A disk without the space that an imported model needs (sizes in bytes)."""

    code = "no_space_for_checkpoint"

    def __init__(self, name: str, needed: int, free: int, folder: str) -> None:
        super().__init__(
            f"importing {name} needs {needed} bytes of disk and {free} are free in {folder}; "
            "free some, or name another folder with split-server import --as"
        )


class LayersNotKept(ServerError):
    """A folder in which the layers that are read in each pass cannot be kept."""

    code = "layers_not_kept"

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(
            f"the layers of the model cannot be kept in {folder}: {reason}; name a folder on "
            "another disk with --stream-folder"
        )


class UnusableModel(ServerError):
    """A model whose first pass fails."""

    code = "unusable_model"

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"the first pass of {name} failed: {reason}; try --dtype float32 or another --device"
        )


class UnusableDevice(ServerError):
    """The requested torch device or dtype is not available on this machine."""

    code = "unusable_device"


class EngineUnusable(ServerError):
    """An engine that is not installed, not one that is known, or not for the model."""

    code = "engine_unusable"


class ModelTooLarge(ServerError):
    """Weights that do not fit into memory (sizes in bytes)."""

    code = "model_too_large"

    def __init__(self, name: str, needed: int, free: int, source: str) -> None:
        super().__init__(
            f"loading {name} needs {needed} bytes and {max(free, 0)} are free "
            f"(limited by: {source}); free memory, raise the limit, or take a smaller --dtype"
        )


class NoKeyRotation(ServerError):
    """Keys of this model cannot be moved to other positions."""

    code = "no_key_rotation"

    def __init__(self, family: str, reason: str) -> None:
        super().__init__(
            f"keys of this model ({family}) cannot be moved to other positions: {reason}; start "
            "without --kv-approximate"
        )
