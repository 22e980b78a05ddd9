"""The ends of the served model, kept in the cache folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from split_client.errors import ModelInUse, StoreFailed
from split_client.weights.store import ModelStore
from split_server.checkpoint.catalog import Catalog, build_catalog
from split_server.checkpoint.folder import read_checkpoint
from split_server.checkpoint.manifest import Manifest, build_manifest
from split_server.compat.ends import LocalEnds
from tests import oracle


@pytest.fixture
def served(family_path: Path) -> tuple[Catalog, Manifest]:
    checkpoint = read_checkpoint(family_path, family_path.name)
    catalog = build_catalog(checkpoint)
    return catalog, build_manifest(checkpoint, catalog)


def test_the_ends_are_those_of_the_checkpoint(
    served: tuple[Catalog, Manifest], family_path: Path, tmp_path: Path
) -> None:
    local = LocalEnds.open(*served, ModelStore(tmp_path))
    rows = local.ends.embedder.lookup([5, 7], "f32")
    np.testing.assert_array_equal(rows, oracle.embeddings(family_path, [5, 7]).numpy())
    local.close()


def test_a_second_start_finds_the_copy_of_the_first(
    served: tuple[Catalog, Manifest], tmp_path: Path
) -> None:
    store = ModelStore(tmp_path)
    LocalEnds.open(*served, store).close()
    stored = store.find(served[1].digest)
    assert stored is not None
    before = {path.name: path.stat().st_mtime_ns for path in stored.folder.iterdir()}
    LocalEnds.open(*served, store).close()
    assert {path.name: path.stat().st_mtime_ns for path in stored.folder.iterdir()} == before


def test_ends_in_use_cannot_be_removed(served: tuple[Catalog, Manifest], tmp_path: Path) -> None:
    store = ModelStore(tmp_path)
    local = LocalEnds.open(*served, store)
    stored = store.find(served[1].digest)
    assert stored is not None
    with pytest.raises(ModelInUse):
        store.remove(stored)
    local.close()
    store.remove(stored)


def test_a_cache_folder_that_cannot_be_written_is_told(
    served: tuple[Catalog, Manifest], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailed):
        LocalEnds.open(*served, ModelStore(tmp_path / "file"))
