"""Writes runs of the pool to the folder, parents first."""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from split_client.owner_file import reason
from split_server.kv.cutting import shortened
from split_server.kv.run import Run
from split_server.kv.run_pool import RunPool
from split_server.kv_disk.counts import Counts
from split_server.kv_disk.folder import Folder
from split_server.kv_disk.index import Entry, Index
from split_server.kv_disk.keeper import Keeper
from split_server.kv_disk.keys import FolderKey
from split_server.kv_disk.pause import Pause
from split_server.kv_disk.reader import Reader
from split_server.kv_disk.run_file import NONCE_BYTES, Header, file_name
from split_server.kv_disk.salts import SaltFile
from split_server.kv_disk.seal import dtype_name, sealed_file, sealed_size
from split_server.kv_disk.waiting import MOST, Waiting


class Writer:
    """On one thread; ``wall`` in seconds since 1970."""

    def __init__(
        self,
        pool: RunPool,
        reader: Reader,
        folder: Folder,
        index: Index,
        keeper: Keeper,
        key: FolderKey,
        salts: SaltFile,
        waiting: Waiting,
        counts: Counts,
        pause: Pause,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._pool, self._folder, self._index, self._keeper = pool, folder, index, keeper
        self._reader = reader
        self._key, self._salts, self._waiting = key, salts, waiting
        self._counts, self._pause, self._wall = counts, pause, wall
        self._todo: deque[bytes] = deque(maxlen=MOST)

    def write(self, *, all_of_them: bool = False) -> None:
        """Write the runs whose time has come; what a disk refuses is tried again later."""
        self._todo.extend(self._waiting.due(all_of_them=all_of_them))
        while self._todo and self._pause.over:
            name = self._todo.popleft()
            try:
                self._chain(name)
            except OSError as error:
                self._todo.appendleft(name)
                self._counts.failed["write"] += 1
                self._pause.failed(reason(error))
                return
            self._pause.passed()

    def put(self, run: Run) -> bool:
        """Whether ``run``, which need not be in the pool, is on disk now with what it follows.

        Raises OSError, MemoryError.
        """
        if not self._pause.over:
            return False
        try:
            if run.parent is not None and self._pool.knows(run.parent.names[run.parent.end]):
                self._chain(run.parent.names[run.parent.end])
            header = self._header(run, run.names[run.end])
            keys = self._salts.keys_of(run.owner)
            if header is None or keys is None:
                return False
            self._index.writes(header)
            return self._put(header, sealed_file(run, header, keys.cipher))
        except OSError as error:
            self._counts.failed["write"] += 1
            self._pause.failed(reason(error))
            raise

    def shorten(self, entry: Entry, end: int) -> None:
        """Have a file of the positions of ``entry`` up to ``end`` in place of it; whatever happens,
        the longer one is gone.
        """
        try:
            run = self._reader.load(entry.name)
        finally:
            self._folder.remove(entry.name)
        header = entry.header
        keys = None if run is None else self._salts.keys_of(run.owner)
        if run is None or keys is None or header is None:
            return
        short = shortened(run, end)
        nonce, sealed = secrets.token_bytes(NONCE_BYTES), sealed_size(short)
        left = replace(header, end=end, sealed=sealed, nonce=nonce, names=short.names)
        self._index.writes(left)
        self._put(left, sealed_file(short, left, keys.cipher))

    def _chain(self, name: bytes) -> None:
        """Write the run whose last block has ``name``, and what it goes on from. Raises OSError."""
        with self._pool.longest([name]) as spans:
            # Names alone: what is written later must not keep memory.
            names = [span.run.names[span.run.end] for span in spans]
        for one in names:
            if not self._index.has(file_name(one)) and not self._one(one):
                return

    def _one(self, name: bytes) -> bool:
        """Whether the run is on disk now. Raises OSError."""
        begun_at = time.perf_counter()
        made = self._sealed(name)
        if made is None:
            return False
        put = self._put(*made)
        if put:
            self._counts.done("write", time.perf_counter() - begun_at)
        return put

    def _put(self, header: Header, data: bytearray) -> bool:
        begun = self._keeper.begin(len(data))
        if begun is None:
            return False
        self._folder.finish(*begun, memoryview(data), header.file_name)
        entry = Entry(header.file_name, len(data), self._wall(), header)
        if not self._index.add(entry, written=True):
            # Forgotten meanwhile.
            self._folder.remove(entry.name)
            return False
        return True

    def _sealed(self, name: bytes) -> tuple[Header, bytearray] | None:
        """The file of a run; None where it may not be written, or has gone."""
        with self._pool.longest([name]) as spans:
            run = spans[-1].run if spans else None
            header = None if run is None else self._header(run, name)
            if run is None or header is None:
                return None
            self._index.writes(header)
            keys = self._salts.keys_of(run.owner)
            # What was forgotten before the index knew of this write is gone from the pool.
            if keys is None or self._pool.find(name) is not run:
                return None
            try:
                # In one piece, so that a disk that hangs keeps no run of the pool from going.
                return header, sealed_file(run, header, keys.cipher)
            except MemoryError:
                return None

    def _header(self, run: Run, name: bytes) -> Header | None:
        keys = self._salts.keys_of(run.owner)
        parent = b"" if run.parent is None else run.parent.names.get(run.start, b"")
        if keys is None or not run.to_disk or run.names[run.end] != name:
            return None
        if bool(parent) != bool(run.start):
            return None
        return Header(
            key_id=self._key.id,
            owner=keys.tag,
            space=run.space,
            parent=parent,
            start=run.start,
            end=run.end,
            sealed=sealed_size(run),
            nonce=secrets.token_bytes(NONCE_BYTES),
            names=run.names,
            tier=run.tier,
            dtype=dtype_name(run),
            coded=bool(run.scales),
        )
