"""A checkpoint on disk.

Its config and where its tensors lie. Safetensors only, no code of the checkpoint runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from os.path import lexists
from pathlib import Path
from typing import Any

from split_files import read_regular
from split_server.checkpoint.families import FAMILIES, family_of
from split_server.checkpoint.gguf.importing import imported_folder
from split_server.checkpoint.gguf.middle import MIDDLE_FILE
from split_server.checkpoint.grouped.matrices import GroupedMatrix, split_tensors
from split_server.checkpoint.grouped.scheme import scheme_of
from split_server.checkpoint.safetensors_index import TensorSlice, index_file
from split_server.errors import CheckpointNotFound, MalformedCheckpoint, UnsafeCheckpoint

EMBEDDED = Path(__file__).resolve().parent.parent / "embedded"
EMBEDDED_NAME = "gatelink-demo"
# Of one of its texts; the largest are tokenizers, of tens of megabytes.
MAX_TEXT_BYTES = 256 << 20
_HUB_PATTERNS = ["*.json", "*.safetensors", "*.jinja", "*.txt", "*.model", "README.md", "LICENSE*"]


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint's folder, indexed.

    ``tensors``: every float tensor by name; ``licence``: as its model card names it, None when it
    does not; ``middle``: a GGUF with the layers, where ``tensors`` are the ends alone;
    ``grouped``: matrices of AWQ and GPTQ by their layers' names, whose tensors are not among the
    others.
    """

    path: Path
    name: str
    config: Mapping[str, Any]
    tensors: Mapping[str, TensorSlice]
    licence: str | None
    middle: Path | None = None
    grouped: Mapping[str, GroupedMatrix] = field(default_factory=dict)

    @property
    def weight_files(self) -> list[Path]:
        """The safetensors files, sorted by name, and the middle if it is a file of its own."""
        packed = [
            part.file
            for matrix in self.grouped.values()
            for part in (matrix.values, matrix.zeros, matrix.scales, matrix.order)
            if part is not None
        ]
        files = sorted({tensor.file for tensor in self.tensors.values()} | set(packed))
        return files if self.middle is None else [*files, self.middle]

    @property
    def eos_token_ids(self) -> tuple[int, ...]:
        """The ids that end a reply: those of generation_config.json, else of config.json."""
        generation = self.read_json("generation_config.json") or {}
        value = generation.get("eos_token_id", self.config.get("eos_token_id"))
        ids = value if isinstance(value, list) else [value]
        return tuple(int(token) for token in ids if isinstance(token, int))

    def read_json(self, file: str) -> dict[str, Any] | None:
        """A JSON object of the folder, None when there is no such file.

        Raises MalformedCheckpoint.
        """
        return _read_json(self.path / file)


def open_split_gguf(model: str | None, dtype: str = "auto") -> Checkpoint:
    """The checkpoint of a GGUF file whose middle stays one; ``dtype``: of its ends, as
    ``imported_folder`` has it. Raises CheckpointNotFound, MalformedCheckpoint, UnsupportedFamily.
    """
    path = None if model is None else _path_here(model)
    if path is None or not path.is_file():
        raise CheckpointNotFound(
            f"{'the embedded model' if model is None else model} is no GGUF file, and llama.cpp "
            "reads nothing else; name one with --model, or leave --engine llama out"
        )
    return read_checkpoint(imported_folder(path, dtype=dtype, split=True), path.stem)


def open_checkpoint(model: str | None) -> Checkpoint:
    """The embedded checkpoint (None), one in a folder or a GGUF file, or one of the Hugging Face
    hub by its id.

    What exists here, and whatever is written as a path (``./x``, ``/x``, ``~/x``, ``x/``), never
    goes to the hub. Raises CheckpointNotFound, UnsafeCheckpoint, MalformedCheckpoint,
    UnsupportedFamily, UnsupportedQuantization.
    """
    if model is None:
        return read_checkpoint(EMBEDDED, EMBEDDED_NAME)
    path = _path_here(model)
    if path is None:
        return read_checkpoint(_download(model), model)
    if path.is_file():
        return read_checkpoint(imported_folder(path), path.stem)
    return read_checkpoint(path, path.resolve().name)


def _path_here(model: str) -> Path | None:
    """The folder or file that ``model`` names, None where it can only be a hub's id.

    Raises CheckpointNotFound.
    """
    try:
        path = Path(model).expanduser()
        if path.is_dir():
            next(path.iterdir(), None)
            return path
        if path.is_file():
            return path
        # A hub's id begins with a letter, a digit or an underscore.
        if not model.startswith((".", "/", "~")) and not model.endswith("/") and not lexists(path):
            return None
        reason = "is neither a folder nor a file" if path.exists() else "does not exist"
    except RuntimeError:
        reason = "is in the home folder of nobody"
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
    raise CheckpointNotFound(
        f"{model} {reason}; --model takes a folder with config.json and safetensors files, a GGUF "
        "file, or a hub id such as Qwen/Qwen2.5-0.5B-Instruct"
    )


def read_checkpoint(path: Path, name: str) -> Checkpoint:
    """Index a folder with config.json and safetensors files.

    Raises as ``open_checkpoint``.
    """
    config = _read_json(path / "config.json")
    if config is None:
        raise CheckpointNotFound(
            f"{path} has no config.json; a model's folder holds that and safetensors files"
        )
    # A checkpoint of a family that is known brings code for older libraries, which is never run.
    if "auto_map" in config and config.get("model_type") not in FAMILIES:
        raise UnsafeCheckpoint(
            f"{name} needs code of its own to run; only plain checkpoints are served"
        )
    # Before anything is said about weights that would not help.
    family_of(config)
    scheme = scheme_of(config)
    tensors: dict[str, TensorSlice] = {}
    for file in _weight_files(path, name):
        tensors.update(index_file(file, words=scheme is not None))
    middle = path / MIDDLE_FILE
    grouped: Mapping[str, GroupedMatrix] = {}
    if scheme is not None:
        tensors, grouped = split_tensors(scheme, tensors)
    return Checkpoint(
        path,
        name,
        config,
        tensors,
        _licence(path),
        middle if middle.is_file() else None,
        grouped,
    )


def _weight_files(path: Path, name: str) -> list[Path]:
    index = _read_json(path / "model.safetensors.index.json")
    if index is not None:
        names = sorted(set(index.get("weight_map", {}).values()))
        files = [path / Path(str(file)).name for file in names]
    else:
        files = [path / "model.safetensors"]
    missing = [file.name for file in files if not file.is_file()]
    if not missing and files:
        return files
    if any(path.glob("*.bin")) or any(path.glob("*.pt*")):
        raise UnsafeCheckpoint(
            f"{name} has its weights only as pickle files, which can run code; "
            "convert them to safetensors"
        )
    raise CheckpointNotFound(
        f"{name}: weights file missing: {', '.join(missing) or 'safetensors'}; "
        "fetch the checkpoint again"
    )


def _read_json(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(read_regular(path, MAX_TEXT_BYTES).decode("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise MalformedCheckpoint(
            f"{path} is not readable JSON; fetch the checkpoint again, or correct the file"
        ) from error
    if not isinstance(value, dict):
        raise MalformedCheckpoint(
            f"{path} is not a JSON object; fetch the checkpoint again, or correct the file"
        )
    return value


def _licence(path: Path) -> str | None:
    """The ``license:`` line of the model card's front matter."""
    for card in ("README.md", "MODEL_CARD.md"):
        try:
            text = read_regular(path / card, MAX_TEXT_BYTES).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        for line in text.splitlines()[:50]:
            key, _, value = line.partition(":")
            if key.strip() == "license" and value.strip():
                return value.strip().strip("\"'")
    return None


def _offline() -> str:
    from huggingface_hub.constants import HF_HUB_OFFLINE

    return " (HF_HUB_OFFLINE is set)" if HF_HUB_OFFLINE else ""


def _download(model: str) -> Path:
    # Importing the hub client takes a second that a local checkpoint need not spend.
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
    )

    try:
        return Path(snapshot_download(model, allow_patterns=_HUB_PATTERNS))
    except HFValidationError as error:
        raise CheckpointNotFound(
            f"{model!r} is neither a folder here nor a hub id such as Qwen/Qwen2.5-0.5B-Instruct"
        ) from error
    except LocalEntryNotFoundError as error:
        raise CheckpointNotFound(
            f"{model!r} is no folder here, was not downloaded before, and the hub cannot be "
            f"reached{_offline()}; check the network, or name a folder or GGUF file with a model; "
            "without --model the embedded one is served"
        ) from error
    except (HfHubHTTPError, OSError, ValueError) as error:
        raise CheckpointNotFound(
            f"{model!r} is no folder here, and the hub did not give it: "
            f"{' '.join(str(error).split())}"
        ) from error
