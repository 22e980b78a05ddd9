"""The adapters that a server loads beside its model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.errors import AdapterUnusable
from split_server.adapters.folder import adapter_folders, open_adapters
from split_server.adapters.model_digest import weights_sha256
from split_server.checkpoint.folder import Checkpoint

_FOLDER = "adapters"


def served_adapters(
    folder: Path | None,
    checkpoint: Checkpoint,
    hidden_size: int,
    leave_out: Callable[[AdapterUnusable], None] | None = None,
) -> dict[str, AdapterFile]:
    """Those of ``folder``, or of the checkpoint's own folder ``adapters`` when there is one.

    ``leave_out`` is told of those that cannot be used. Raises AdaptersNotFound,
    MalformedCheckpoint, and AdapterUnusable where nobody is to be told.
    """
    if folder is None:
        folder = checkpoint.path / _FOLDER
        if not folder.is_dir():
            return {}
    folder = folder.expanduser()
    # Hashing gigabytes of weights takes seconds, which a server without adapters need not spend.
    digest = weights_sha256(checkpoint.weight_files) if adapter_folders(folder) else None
    return open_adapters(folder, hidden_size, digest, leave_out)
