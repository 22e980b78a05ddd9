"""The cache folder: one folder per model, named by its manifest's digest.

::

    models/<digest>/            a whole model: manifest.json and the files it names
    models/<digest>.part/       the same while it is pulled; renamed when every chunk is verified
    models/<digest>.lock        see locks; stays, because a lock on a deleted file locks nothing
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from split_client.errors import ManifestInvalid, ModelUnknown, StoreFailed
from split_client.weights.fields import is_sha256
from split_client.weights.locks import Lock
from split_client.weights.manifest import (
    FILE_NAME,
    MAX_MANIFEST_BYTES,
    Manifest,
    parse_manifest,
)
from split_files import FileRefused, FileTooLarge, read_regular

CACHE_VARIABLE = "SPLIT_CACHE"


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model on disk.

    ``complete`` is false while it is partly pulled; ``bytes_on_disk`` counts all in its folder.
    """

    manifest: Manifest
    folder: Path
    complete: bool
    bytes_on_disk: int

    def path(self, file: str) -> Path:
        """The path of one of the manifest's files."""
        return self.folder / file


def default_cache(environ: Mapping[str, str] = os.environ) -> Path:
    """``SPLIT_CACHE``, else the platform's cache folder of this user."""
    named = environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    return platformdirs.user_cache_path("gatelink", appauthor=False)


class ModelStore:
    """The models under ``cache``; nothing is created before it is needed."""

    def __init__(self, cache: Path | None = None) -> None:
        self.root = (cache or default_cache()) / "models"

    def find(self, digest: str) -> StoredModel | None:
        """The whole model with this digest; None if it or a file is missing or of another size."""
        with _reported(self.root):
            stored = self._read(self._folder(digest))
        return stored if stored is not None and stored.complete else None

    def list(self) -> list[StoredModel]:
        """Every model, whole or partly pulled, by name."""
        with _reported(self.root):
            folders = sorted(self.root.iterdir()) if self.root.is_dir() else []
            found = [self._read(f) for f in folders if is_sha256(f.name.removesuffix(".part"))]
        models = [model for model in found if model is not None]
        return sorted(models, key=lambda model: (model.manifest.name, model.manifest.digest))

    def resolve(self, name: str) -> StoredModel:
        """The one model called ``name`` or whose digest begins so. Raises ModelUnknown."""
        models = self.list()
        matching = [
            model
            for model in models
            if model.manifest.name == name
            or (len(name) >= 4 and model.manifest.digest.startswith(name))
        ]
        if len(matching) != 1:
            reason = "several stored models match" if matching else "no stored model matches"
            raise ModelUnknown(name, reason)
        return matching[0]

    def remove(self, model: StoredModel) -> None:
        """Delete a model. Raises ModelInUse while any process uses or pulls it."""
        digest = model.manifest.digest
        with self.claim(digest), _reported(self.root):
            for folder in (self._folder(digest), self._partial(digest)):
                if folder.exists():
                    shutil.rmtree(folder)

    def use(self, digest: str) -> Lock:
        """Hold a model against removal. Raises ModelInUse while it is being pulled or removed."""
        return self._lock(digest, exclusive=False)

    def claim(self, digest: str) -> Lock:
        """Hold a model alone. Raises ModelInUse."""
        return self._lock(digest, exclusive=True)

    def begin(self, manifest: Manifest, data: bytes) -> Path:
        """The folder to pull into, with what an earlier pull left; the caller holds the claim."""
        partial, whole = self._partial(manifest.digest), self._folder(manifest.digest)
        with _reported(self.root):
            if whole.exists() and not partial.exists():
                whole.rename(partial)
            partial.mkdir(parents=True, exist_ok=True)
            (partial / FILE_NAME).write_bytes(data)
        return partial

    def arrived(self, manifest: Manifest) -> int:
        """The bytes of a model that are there while it is pulled, verified or not."""
        with _reported(self.root):
            partial = self._partial(manifest.digest)
            folder = partial if partial.exists() else self._folder(manifest.digest)
            return sum(min(_size(folder / file.name), file.size) for file in manifest.files)

    def commit(self, digest: str) -> StoredModel:
        """Declare a pulled model whole. Raises StoreFailed."""
        with _reported(self.root):
            self._partial(digest).rename(self._folder(digest))
            stored = self._read(self._folder(digest))
        if stored is None or not stored.complete:
            raise StoreFailed(str(self.root), "the pulled files are not as they should be")
        return stored

    def free_bytes(self) -> int:
        """Free space for this user where the models lie."""
        with _reported(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            return shutil.disk_usage(self.root).free

    def _folder(self, digest: str) -> Path:
        return self.root / digest

    def _partial(self, digest: str) -> Path:
        return self.root / f"{digest}.part"

    def _lock_path(self, digest: str) -> Path:
        return self.root / f"{digest}.lock"

    def _lock(self, digest: str, *, exclusive: bool) -> Lock:
        with _reported(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
            return Lock(self._lock_path(digest), digest, exclusive=exclusive)

    def _read(self, folder: Path) -> StoredModel | None:
        try:
            manifest = parse_manifest(read_regular(folder / FILE_NAME, MAX_MANIFEST_BYTES))
        except (FileNotFoundError, NotADirectoryError, ManifestInvalid, FileTooLarge):
            return None
        if manifest.digest != folder.name.removesuffix(".part"):
            return None
        sizes = {file.name: _size(folder / file.name) for file in manifest.files}
        whole = all(sizes[file.name] == file.size for file in manifest.files)
        complete = whole and not folder.name.endswith(".part")
        return StoredModel(manifest, folder, complete, sum(map(_size, folder.iterdir())))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


@contextmanager
def _reported(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        place = error.filename if isinstance(error, FileRefused) else folder
        raise StoreFailed(str(place), error.strerror or str(error)) from error
