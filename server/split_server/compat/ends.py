"""The ends of the served model for a device client in this process.

They are a copy in the cache folder of this machine's user, the same that ``split-client`` pulls:
a checkpoint that is rewritten in place must not change under the running server.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from split_client.model.ends import DeviceEnds
from split_client.weights.locks import Lock
from split_client.weights.manifest import parse_manifest
from split_client.weights.pull import pull
from split_client.weights.store import ModelStore
from split_server.checkpoint.catalog import Catalog
from split_server.checkpoint.manifest import Manifest
from split_server.checkpoint.slices import CHUNK_BYTES


class LocalEnds:
    """``ends``, held against removal from the cache folder until :meth:`close`; ``tokenizer``: the
    file of theirs.
    """

    def __init__(self, ends: DeviceEnds, tokenizer: Path, lock: Lock) -> None:
        self.ends = ends
        self.tokenizer = tokenizer
        self._lock = lock

    @classmethod
    def open(cls, catalog: Catalog, manifest: Manifest, store: ModelStore) -> LocalEnds:
        """Copy what is not in ``store`` yet, verify it, and open it.

        Raises the errors of ``split_client.errors`` and ``split_client.generation.errors``, and
        WeightsChanged.
        """
        stored = store.find(manifest.digest)
        if stored is None:
            pulled = parse_manifest(manifest.data)
            stored = pull(CatalogBytes(catalog), store, pulled, manifest.data)
        lock = store.use(manifest.digest)
        try:
            ends = DeviceEnds.open(stored, trusted=True)
        except BaseException:
            lock.release()
            raise
        return cls(ends, stored.path(stored.manifest.tokenizer), lock)

    def close(self) -> None:
        """End the template's process and let the copy be removed."""
        self.ends.close()
        self._lock.release()


class CatalogBytes:
    """The files of ``catalog`` as a pull reads them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def read(self, file: str, start: int) -> Iterator[bytes]:
        """The bytes of one file from ``start`` on, in pieces. Raises NotFound, WeightsChanged."""
        source = self._catalog.find(file).source
        with source.opened() as read:
            for offset in range(start, source.size, CHUNK_BYTES):
                yield read(offset, CHUNK_BYTES)
