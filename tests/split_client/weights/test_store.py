from __future__ import annotations

from pathlib import Path

import pytest

from split_client.errors import ModelInUse, ModelUnknown, StoreFailed
from split_client.weights.manifest import Manifest, parse_manifest
from split_client.weights.store import ModelStore, StoredModel, default_cache
from tests.pipes import pipe
from tests.split_client.weights.offers import FILES, document, encoded


def put(store: ModelStore, name: str = "tiny", *, whole: bool = True) -> Manifest:
    """Store a model without a server."""
    data = encoded(document(model__name=name))
    manifest = parse_manifest(data)
    with store.claim(manifest.digest):
        folder = store.begin(manifest, data)
        for file, content in FILES.items():
            (folder / file).write_bytes(content if whole else content[:10])
        if whole:
            store.commit(manifest.digest)
    return manifest


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    return ModelStore(tmp_path)


def found(store: ModelStore, manifest: Manifest) -> StoredModel:
    model = store.find(manifest.digest)
    assert model is not None
    return model


def test_the_cache_folder_is_named_by_a_variable_or_the_platform(tmp_path: Path) -> None:
    assert default_cache({"SPLIT_CACHE": str(tmp_path)}) == tmp_path
    assert default_cache({}).name == "gatelink"


def test_nothing_is_created_by_looking(tmp_path: Path) -> None:
    store = ModelStore(tmp_path / "none")
    assert store.list() == []
    assert store.find("0" * 64) is None
    assert not (tmp_path / "none").exists()


def test_whole_and_partly_pulled_models_are_listed(store: ModelStore) -> None:
    put(store, "b")
    put(store, "a", whole=False)
    assert [(m.manifest.name, m.complete) for m in store.list()] == [("a", False), ("b", True)]
    assert store.list()[1].bytes_on_disk == sum(map(len, FILES.values())) + len(
        encoded(document(model__name="b"))
    )


def test_a_model_with_a_missing_or_cut_file_is_not_found(store: ModelStore) -> None:
    manifest = put(store)
    path = found(store, manifest).path("embedding.bin")
    path.write_bytes(path.read_bytes()[:-1])
    assert store.find(manifest.digest) is None
    path.unlink()
    assert store.find(manifest.digest) is None


def test_a_model_whose_manifest_was_changed_is_not_found(store: ModelStore) -> None:
    manifest = put(store)
    folder = found(store, manifest).folder
    (folder / "manifest.json").write_bytes(encoded(document(model__name="other")))
    assert store.find(manifest.digest) is None
    assert store.list() == []


def test_models_are_named_by_name_or_beginning_of_digest(store: ModelStore) -> None:
    manifest = put(store)
    assert store.resolve("tiny").manifest == manifest
    assert store.resolve(manifest.digest[:8]).manifest == manifest


@pytest.mark.parametrize("name", ["nothing", "", "../tiny"])
def test_an_unknown_name_is_refused(store: ModelStore, name: str) -> None:
    put(store)
    with pytest.raises(ModelUnknown):
        store.resolve(name)


def test_a_name_of_two_models_is_refused(store: ModelStore) -> None:
    put(store, whole=True)
    other = encoded(document(max_context=64))
    store.begin(parse_manifest(other), other)
    with pytest.raises(ModelUnknown, match="several"):
        store.resolve("tiny")


def test_a_removed_model_is_gone_and_another_stays(store: ModelStore) -> None:
    gone, stays = put(store, "a"), put(store, "b")
    store.remove(found(store, gone))
    assert store.find(gone.digest) is None
    found(store, stays)


def test_a_partly_pulled_model_can_be_removed(store: ModelStore) -> None:
    put(store, whole=False)
    store.remove(store.resolve("tiny"))
    assert store.list() == []


def test_a_model_in_use_is_neither_removed_nor_pulled(store: ModelStore) -> None:
    manifest = put(store)
    model = found(store, manifest)
    with store.use(manifest.digest), store.use(manifest.digest):
        with pytest.raises(ModelInUse):
            store.remove(model)
        with pytest.raises(ModelInUse):
            store.claim(manifest.digest)
    store.remove(model)


def test_a_cache_that_is_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file")
    store = ModelStore(tmp_path)
    with pytest.raises(StoreFailed, match="SPLIT_CACHE"):
        store.claim("0" * 64)


def test_a_pipe_in_place_of_a_manifest_is_named_and_not_waited_for(store: ModelStore) -> None:
    path = found(store, put(store)).folder / "manifest.json"
    with pipe(path, path.read_bytes()), pytest.raises(StoreFailed, match=r"manifest\.json: it is"):
        store.list()
