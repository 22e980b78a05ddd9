"""The cache folder and the model in it."""

from __future__ import annotations

import errno
import shutil
import tempfile
from pathlib import Path

from split_client.doctor.case import Case
from split_client.doctor.finding import Finding, ok, problem
from split_client.errors import StoreFailed
from split_client.terminal.output.words import size
from split_client.weights.pull import SPARE_BYTES
from split_client.weights.store import ModelStore, StoredModel

_TRIAL_BYTES = 64 * 1024
_FULL = (errno.ENOSPC, errno.EDQUOT)
_ELSEWHERE = "set SPLIT_CACHE to another folder, or give --cache"


def check_model(case: Case) -> Finding:
    """Whether the served model's ends are here already."""
    manifest = case.model
    try:
        models = ModelStore(case.cache).list()
    except StoreFailed:
        # Named by the check of the folder.
        models = []
    same = [model for model in models if model.manifest.digest == manifest.digest]
    case.stored = any(model.complete for model in same)
    if case.stored:
        return ok("model", f"stored, {size(manifest.size)}", stored=True)
    return ok("model", _absence(case, models, same), stored=False)


def check_cache(case: Case) -> Finding:
    """Whether the folder takes what a pull would write. Nothing stays in it."""
    root = ModelStore(case.cache).root
    try:
        folder = _existing(root)
        with tempfile.TemporaryFile(dir=folder) as trial:
            trial.write(bytes(_TRIAL_BYTES))
            trial.flush()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return _unusable(root, error)
    needed = 0 if case.manifest is None or case.stored else case.manifest.size
    if needed and needed + SPARE_BYTES > free:
        return problem(
            "cache",
            "cache_full",
            f"the weights need {size(needed)}, and {size(free)} are free in {root}",
            f"make room (split-client pull --list, --remove), or {_ELSEWHERE}",
            free=free,
            needed=needed,
        )
    return ok("cache", f"{root} is writable, {size(free)} free", free=free, needed=needed)


def _absence(case: Case, models: list[StoredModel], same: list[StoredModel]) -> str:
    whole = size(case.model.size)
    if same:
        return f"partly stored, {size(same[0].bytes_on_disk)} of {whole}; a chat fetches the rest"
    if any(model.manifest.name == case.model.name for model in models):
        return f"the server's has changed since it was pulled; a chat fetches the new one, {whole}"
    return f"not stored yet; the first chat fetches {whole}"


def _existing(folder: Path) -> Path:
    """The folder, or the closest one above it that is there."""
    return next((path for path in (folder, *folder.parents) if path.exists()), folder)


def _unusable(root: Path, error: OSError) -> Finding:
    if error.errno in _FULL:
        return problem(
            "cache",
            "cache_full",
            f"nothing more can be written to {root}: {error.strerror}",
            f"make room (split-client pull --list, --remove), or {_ELSEWHERE}",
        )
    return problem(
        "cache",
        "cache_unwritable",
        f"{root} cannot be written to: {error.strerror or error}",
        f"make the folder yours, or {_ELSEWHERE}",
    )
