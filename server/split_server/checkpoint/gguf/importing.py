"""GGUF files as folders: in the cache under the SHA-256 of their bytes, or where one is wanted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import platformdirs

from split_server.errors import (
    CheckpointNotFound,
    MalformedCheckpoint,
    NoSpaceForCheckpoint,
    ServerError,
    UnsupportedFamily,
)

_CODES: dict[str, type[ServerError]] = {
    kind.code: kind
    for kind in (CheckpointNotFound, MalformedCheckpoint, NoSpaceForCheckpoint, UnsupportedFamily)
}


def imported_folder(
    file: Path, folder: Path | None = None, dtype: str = "bfloat16", *, split: bool = False
) -> Path:
    """The folder made of the GGUF ``file``: ``folder``, which must not exist, or (None) the one in
    the cache, which is made now if it is not there. ``dtype``: ``bfloat16`` or ``float32``;
    ``split``: the middle stays a GGUF, and the ends may be ``auto``, as in the file.

    Raises CheckpointNotFound, MalformedCheckpoint, UnsupportedFamily, NoSpaceForCheckpoint.
    """
    if folder is None:
        cache = platformdirs.user_cache_path("gatelink", appauthor=False) / "gguf"
        return _made(file, f"{cache}/", dtype, split=split)
    if folder.exists():
        raise CheckpointNotFound(f"{folder} exists; name a folder that does not")
    return _made(file, str(folder), dtype, split=split)


def _made(file: Path, folder: str, dtype: str, *, split: bool) -> Path:
    # What strangers wrote is read by a process that has limits of its own.
    command = [sys.executable, "-P", "-m", "split_server.checkpoint.gguf.worker"]
    done = subprocess.run(  # noqa: S603 - our own interpreter and module
        [*command, str(file), folder, dtype, "split" if split else "whole"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Each thread of a linear algebra library reserves memory, which is limited.
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    try:
        answer = json.loads(done.stdout)
    except ValueError as error:
        raise MalformedCheckpoint(
            f"{file.name} could not be read within the limits of time and memory"
        ) from error
    if "folder" in answer:
        return Path(answer["folder"])
    kind = _CODES.get(answer["code"], MalformedCheckpoint)
    raised = kind.__new__(kind)
    ServerError.__init__(raised, answer["message"])
    raise raised
