"""Pulling a model: every chunk is verified before it is kept and fetched once."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Protocol

from split_client.errors import (
    ChecksumMismatch,
    ConnectionLost,
    DiskFull,
    DownloadFailed,
    NotEnoughSpace,
    ServerRefused,
    ServerUnreachable,
    TlsMismatch,
)
from split_client.weights.download import WeightsSource
from split_client.weights.manifest import FileEntry, Manifest, parse_manifest
from split_client.weights.store import ModelStore, StoredModel
from split_client.weights.turn import Turn

# Room that stays free for everything else on the disk.
SPARE_BYTES = 64 << 20
MAX_TRIES = 6
_LONGEST_DELAY = 10.0


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` and ``total`` count bytes over all files; ``note`` says why it waits, if it does."""

    file: str
    done: int
    total: int
    note: str = ""


class FileBytes(Protocol):
    """The source of the files: a server, or a catalog in the same process."""

    def read(self, file: str, start: int) -> Iterator[bytes]:
        """The bytes of one file from ``start`` on, in pieces."""


def fetch_manifest(source: WeightsSource) -> tuple[Manifest, bytes]:
    """The checked manifest of the server and its bytes."""
    data = source.manifest()
    return parse_manifest(data), data


def pull(
    source: FileBytes,
    store: ModelStore,
    manifest: Manifest,
    data: bytes,
    *,
    progress: Callable[[Progress], None] = lambda _: None,
    pause: Callable[[float], None] = time.sleep,
    chance: Callable[[], float] = random.random,
    patience: float = 0.0,
) -> StoredModel:
    """Make ``manifest`` (of the bytes ``data``) whole: verify what is there, fetch the rest.

    A model that is whole may be in use; one that another process pulls is waited for, as long as
    that brings something within ``patience`` seconds. Raises NotEnoughSpace before anything is
    fetched; DiskFull, ChecksumMismatch, DownloadFailed, ServerRefused later, and leaves what was
    verified for the next pull. Raises ModelInUse.
    """
    digest = manifest.digest
    turn = Turn(
        store,
        digest,
        pause,
        patience=patience,
        arrived=lambda: store.arrived(manifest),
        waiting=_Waiting(manifest, progress),
    )
    puller = _Puller(source, manifest, progress, pause, chance)
    verified = False
    while True:
        turn.waited = False
        with turn.use():
            stored = store.find(digest)
            # What another process has just pulled is verified.
            if stored is not None and (turn.waited or (not verified and puller.whole(stored))):
                return stored
            verified = True
        claimed = turn.claim()
        if claimed is not None:
            with claimed:
                return puller.complete(store, data)


class _Waiting:
    """Shows the progress of another process's pull as if it were ours, and says so once."""

    def __init__(self, manifest: Manifest, progress: Callable[[Progress], None]) -> None:
        self._manifest, self._progress = manifest, progress
        self._told = False

    def __call__(self, arrived: int) -> None:
        name, size = self._manifest.name, self._manifest.size
        if not self._told:
            self._told = True
            self._progress(Progress(name, arrived, size, "another process fetches it; waiting"))
        self._progress(Progress(name, arrived, size))


class _Puller:
    def __init__(
        self,
        source: FileBytes,
        manifest: Manifest,
        progress: Callable[[Progress], None],
        pause: Callable[[float], None],
        chance: Callable[[], float],
    ) -> None:
        self._source, self._manifest = source, manifest
        self._progress, self._pause, self._chance = progress, pause, chance
        self._folder = Path()
        self._done = 0

    def whole(self, stored: StoredModel) -> bool:
        """Whether no chunk of a stored model is damaged."""
        self._folder, self._done = stored.folder, 0
        return all(self._is_whole(entry) for entry in self._manifest.files)

    def complete(self, store: ModelStore, data: bytes) -> StoredModel:
        """Fetch what is missing in ``store``, which is claimed."""
        self._folder = store.begin(self._manifest, data)
        missing = self.verify()
        needed = sum(entry.span(chunk)[1] for entry, chunks in missing for chunk in chunks)
        free = store.free_bytes()
        if needed and needed + SPARE_BYTES > free:
            raise NotEnoughSpace(needed, free, str(store.root))
        for entry, chunks in missing:
            self.fetch(entry, chunks)
        return store.commit(self._manifest.digest)

    def verify(self) -> list[tuple[FileEntry, list[int]]]:
        """The chunks that are missing or damaged, per file; what cannot be mended is removed."""
        self._done = 0
        missing = []
        for entry in self._manifest.files:
            chunks = list(self._damaged(entry))
            self._done += entry.size - sum(entry.span(chunk)[1] for chunk in chunks)
            self._report(entry)
            if chunks or not (self._folder / entry.name).exists():
                missing.append((entry, chunks))
        return missing

    def fetch(self, entry: FileEntry, chunks: list[int]) -> None:
        """Fetch ``chunks`` of one file, retrying lost connections as long as something arrives."""
        waiting, failures = list(chunks), 0
        while waiting:
            before = len(waiting)
            try:
                self._fetch_run(entry, waiting)
                failures = 0
            except (ConnectionLost, ServerUnreachable, ChecksumMismatch, ServerRefused) as error:
                failures = 1 if len(waiting) < before else failures + 1
                self._wait_or_give_up(entry, error, failures)
        self._settle(entry)

    def _is_whole(self, entry: FileEntry) -> bool:
        """Nothing of the file is touched, since others may be using it."""
        if not self._is_sound(entry) or any(self._broken(entry)):
            return False
        self._done += entry.size
        self._report(entry)
        return True

    def _damaged(self, entry: FileEntry) -> list[int]:
        if not self._is_sound(entry):
            (self._folder / entry.name).unlink(missing_ok=True)
            return list(range(len(entry.chunks)))
        return [chunk for chunk, broken in enumerate(self._broken(entry)) if broken]

    def _is_sound(self, entry: FileEntry) -> bool:
        path = self._folder / entry.name
        return path.is_file() and not path.is_symlink() and path.stat().st_size <= entry.size

    def _broken(self, entry: FileEntry) -> Iterator[bool]:
        """Of each chunk, whether its bytes are others than the manifest names."""
        with (self._folder / entry.name).open("rb") as file:
            for chunk in range(len(entry.chunks)):
                yield not _intact(file, entry, chunk)

    def _fetch_run(self, entry: FileEntry, waiting: list[int]) -> None:
        """One request from the first missing chunk on; verified chunks leave ``waiting``."""
        start = entry.span(waiting[0])[0]
        buffer = bytearray()
        for part in self._source.read(entry.name, start):
            buffer += part
            while waiting and len(buffer) >= entry.span(waiting[0])[1]:
                chunk, length = waiting[0], entry.span(waiting[0])[1]
                self._keep(entry, chunk, bytes(buffer[:length]))
                del buffer[:length]
                waiting.pop(0)
                if waiting and waiting[0] != chunk + 1:
                    return
            if not waiting:
                return
        raise ConnectionLost("the file ended early")

    def _keep(self, entry: FileEntry, chunk: int, data: bytes) -> None:
        if sha256(data).hexdigest() != entry.chunks[chunk]:
            raise ChecksumMismatch(entry.name, chunk)
        path = self._folder / entry.name
        try:
            path.touch()
            with path.open("r+b") as file:
                file.seek(entry.span(chunk)[0])
                file.write(data)
        except OSError as error:
            raise DiskFull(str(self._folder.parent), error.strerror or str(error)) from error
        self._done += len(data)
        self._report(entry)

    def _settle(self, entry: FileEntry) -> None:
        """Bring a whole file to the disk, so that a power cut after the rename cannot empty it."""
        try:
            with (self._folder / entry.name).open("r+b") as file:
                os.fsync(file.fileno())
        except OSError as error:
            raise DiskFull(str(self._folder.parent), error.strerror or str(error)) from error

    def _wait_or_give_up(self, entry: FileEntry, error: Exception, failures: int) -> None:
        if isinstance(error, ServerRefused) and not error.retryable:
            raise error
        if isinstance(error, TlsMismatch):
            raise error
        # A chunk that stays wrong is not the network's doing.
        if isinstance(error, ChecksumMismatch) and failures > 1:
            raise error
        if failures >= MAX_TRIES:
            raise DownloadFailed(entry.name, str(error)) from error
        delay = min(_LONGEST_DELAY, 0.25 * 2**failures) * (0.5 + self._chance() / 2)
        self._report(entry, f"trying again in {delay:.1f} s")
        self._pause(delay)

    def _report(self, entry: FileEntry, note: str = "") -> None:
        self._progress(Progress(entry.name, self._done, self._manifest.size, note))


def _intact(file: IO[bytes], entry: FileEntry, chunk: int) -> bool:
    start, length = entry.span(chunk)
    file.seek(start)
    return sha256(file.read(length)).hexdigest() == entry.chunks[chunk]
