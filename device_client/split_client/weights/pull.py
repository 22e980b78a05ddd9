"""Pulling a model: every chunk is verified before it is kept and fetched once."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from split_client.errors import (
    ChecksumMismatch,
    ConnectionLost,
    DownloadFailed,
    NotEnoughSpace,
    ServerRefused,
    ServerUnreachable,
    TlsMismatch,
)
from split_client.weights.chunks import ChunkedFile
from split_client.weights.download import WeightsSource
from split_client.weights.forms import Form, OwnBytes, form_of
from split_client.weights.manifest import FileEntry, Manifest, parse_manifest
from split_client.weights.store import ModelStore, StoredModel
from split_client.weights.turn import Turn

# Room that stays free for everything else on the disk.
SPARE_BYTES = 64 << 20
MAX_TRIES = 6
_LONGEST_DELAY = 10.0


@dataclass(frozen=True, slots=True)
class Progress:
    """``done`` and ``total`` count bytes over all files as they travel, which may be fewer than are
    stored; ``note`` says that, or why it waits.
    """

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
    packed: Collection[str] = (),
    progress: Callable[[Progress], None] = lambda _: None,
    pause: Callable[[float], None] = time.sleep,
    chance: Callable[[], float] = random.random,
    patience: float = 0.0,
) -> StoredModel:
    """Make ``manifest`` (of the bytes ``data``) whole: verify what is there, fetch the rest.

    ``packed``: names of packed forms of its files that ``source`` has (:mod:`.forms`).
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
    forms = {entry.name: form_of(manifest, entry, packed) for entry in manifest.files}
    puller = _Puller(source, manifest, forms, progress, pause, chance)
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
        forms: dict[str, Form],
        progress: Callable[[Progress], None],
        pause: Callable[[float], None],
        chance: Callable[[], float],
    ) -> None:
        self._source, self._manifest, self._forms = source, manifest, forms
        self._progress, self._pause, self._chance = progress, pause, chance
        self._folder = Path()
        self._done = 0

    def whole(self, stored: StoredModel) -> bool:
        """Whether no chunk of a stored model is damaged."""
        self._folder, self._done = stored.folder, 0
        for entry in self._manifest.files:
            if not self._file(entry).is_whole():
                return False
            self._done += self._travelled(entry, [])
            self._report(entry)
        return True

    def complete(self, store: ModelStore, data: bytes) -> StoredModel:
        """Fetch what is missing in ``store``, which is claimed."""
        self._folder = store.begin(self._manifest, data)
        missing = self.verify()
        needed = sum(entry.span(chunk)[1] for entry, chunks in missing for chunk in chunks)
        free = store.free_bytes()
        if needed and needed + SPARE_BYTES > free:
            raise NotEnoughSpace(needed, free, str(store.root))
        for entry, chunks in missing:
            self._tell_form(entry, chunks)
            self.fetch(entry, chunks)
        return store.commit(self._manifest.digest)

    def verify(self) -> list[tuple[FileEntry, list[int]]]:
        """The chunks that are missing or damaged, per file; what cannot be mended is removed."""
        self._done = 0
        missing = []
        for entry in self._manifest.files:
            chunks = self._file(entry).damaged()
            self._done += self._travelled(entry, chunks)
            if self._done:
                self._report(entry)
            if chunks or not self._file(entry).is_there():
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
                if self._is_useless(entry, error, failures):
                    self._take_own_bytes(entry, waiting)
                    failures = 0
                else:
                    self._wait_or_give_up(entry, error, failures)
        self._file(entry).settle()

    def _fetch_run(self, entry: FileEntry, waiting: list[int]) -> None:
        """One request from the first missing chunk on; verified chunks leave ``waiting``."""
        form = self._forms[entry.name]
        buffer = bytearray()
        for part in self._source.read(form.name, form.size(entry.span(waiting[0])[0])):
            buffer += part
            while waiting and len(buffer) >= form.size(entry.span(waiting[0])[1]):
                chunk, length = waiting[0], form.size(entry.span(waiting[0])[1])
                self._file(entry).keep(chunk, form.chunk(bytes(buffer[:length])))
                del buffer[:length]
                self._done += length
                self._report(entry)
                waiting.pop(0)
                if waiting and waiting[0] != chunk + 1:
                    return
            if not waiting:
                return
        raise ConnectionLost("the file ended early")

    def _file(self, entry: FileEntry) -> ChunkedFile:
        return ChunkedFile(self._folder, entry)

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

    def _is_useless(self, entry: FileEntry, error: Exception, failures: int) -> bool:
        """Whether a file's packed form is refused, or stays another than the manifest names."""
        refused = isinstance(error, ServerRefused) and not error.retryable
        wrong = isinstance(error, ChecksumMismatch) and failures > 1
        return (refused or wrong) and not isinstance(self._forms[entry.name], OwnBytes)

    def _take_own_bytes(self, entry: FileEntry, waiting: list[int]) -> None:
        """From now on; what travelled before counts as if it had been they."""
        self._done -= self._travelled(entry, waiting)
        self._forms[entry.name] = OwnBytes(entry.name)
        self._done += self._travelled(entry, waiting)

    def _travelled(self, entry: FileEntry, missing: list[int]) -> int:
        """The bytes that stand for all chunks but the missing ones."""
        there = entry.size - sum(entry.span(chunk)[1] for chunk in missing)
        return self._forms[entry.name].size(there)

    def _tell_form(self, entry: FileEntry, chunks: list[int]) -> None:
        stored = sum(entry.span(chunk)[1] for chunk in chunks)
        if (spared := stored - self._forms[entry.name].size(stored)) > 0:
            self._report(entry, f"comes packed, {spared / 1e6:.1f} MB less than it takes here")

    def _report(self, entry: FileEntry, note: str = "") -> None:
        total = sum(self._forms[file.name].size(file.size) for file in self._manifest.files)
        self._progress(Progress(entry.name, self._done, total, note))
