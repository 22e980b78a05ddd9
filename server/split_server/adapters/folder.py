"""A folder of adapters: one folder each, with ``adapter.json`` and ``adapter.safetensors``."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from split_files import FileRefused, read_regular
from split_server.adapters.adapter_file import AdapterFile
from split_server.adapters.description import MAX_BYTES as MAX_JSON_BYTES
from split_server.adapters.description import Description, parse_description
from split_server.adapters.errors import AdaptersNotFound, AdapterUnusable
from split_server.adapters.tensors import MAX_BYTES as MAX_TENSOR_BYTES
from split_server.adapters.tensors import parse_tensors

MAX_ADAPTERS = 64


def adapter_folders(folder: Path) -> list[Path]:
    """The folders in ``folder`` that should each hold an adapter, by name.

    Hidden ones are left out. Raises AdaptersNotFound.
    """
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise AdaptersNotFound(str(folder), "it is not a folder that can be read") from error
    folders = [entry for entry in entries if entry.is_dir()]
    if len(folders) > MAX_ADAPTERS:
        raise AdaptersNotFound(str(folder), f"it has more than {MAX_ADAPTERS} folders")
    return folders


def open_adapters(
    folder: Path,
    hidden_size: int | None,
    model_sha256: str | None = None,
    leave_out: Callable[[AdapterUnusable], None] | None = None,
) -> dict[str, AdapterFile]:
    """Every adapter of ``folder`` by its name.

    ``hidden_size`` and ``model_sha256`` are those of the model that is served, None where there is
    none beside them (an adapter host). ``leave_out`` is told of what cannot be used; a chat that
    names it is refused. Raises AdaptersNotFound, and AdapterUnusable where nobody is to be told.
    """
    found: dict[str, AdapterFile] = {}
    for entry in adapter_folders(folder):
        try:
            adapter = open_adapter(entry, hidden_size, model_sha256)
            _check_name(entry, adapter.name, found)
        except AdapterUnusable as error:
            if leave_out is None:
                raise
            leave_out(error)
        else:
            found[adapter.name] = adapter
    return found


def _check_name(folder: Path, name: str, taken: Collection[str]) -> None:
    if name in taken:
        raise AdapterUnusable(folder.name, f"another adapter is called {name!r} too")


def open_adapter(
    folder: Path, hidden_size: int | None, model_sha256: str | None = None
) -> AdapterFile:
    """The adapter in ``folder``. Raises AdapterUnusable."""
    try:
        about = parse_description(_read(folder / "adapter.json", MAX_JSON_BYTES))
        _check_model(about, hidden_size, model_sha256)
        data = _read(folder / "adapter.safetensors", MAX_TENSOR_BYTES)
        return AdapterFile.of(about, *parse_tensors(data, about.rank, about.hidden_size))
    except ValueError as error:
        raise AdapterUnusable(folder.name, str(error)) from error


def _check_model(about: Description, hidden_size: int | None, model_sha256: str | None) -> None:
    if hidden_size is not None and about.hidden_size != hidden_size:
        raise ValueError(f"it is for hidden size {about.hidden_size}, the model has {hidden_size}")
    trained_on = about.base_model_sha256
    if trained_on and model_sha256 and trained_on != model_sha256:
        raise ValueError(
            "it was trained on other weights: its base_model_sha256 begins with "
            f"{trained_on[:12]}, the model's SHA-256 with {model_sha256[:12]}"
        )


def _read(path: Path, limit: int) -> bytes:
    try:
        return read_regular(path, limit)
    except FileRefused as error:
        raise ValueError(f"{path.name} cannot be used: {error.strerror}") from error
    except OSError as error:
        raise ValueError(f"{path.name} is missing or cannot be read") from error
