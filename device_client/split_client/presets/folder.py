"""One's own presets: plain text files in the configuration folder, to be written by hand too."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from split_client.owner_file import make_folder, reason, write_whole
from split_client.presets.builtin import BUILTIN
from split_client.presets.errors import (
    PresetExists,
    PresetFailed,
    PresetNameInvalid,
    PresetUnknown,
)
from split_files import read_regular
from split_settings import default_config_path

SUFFIX = ".txt"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_MAX_BYTES = 256 << 10
_MOST = 500


@dataclass(frozen=True, slots=True)
class Preset:
    """``own``: from the user's folder, where it may hide one that comes along."""

    name: str
    text: str
    own: bool


class PresetFolder:
    """Presets by name, their own files before those that come along."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or default_config_path().parent / "presets"

    def text(self, given: str) -> str:
        """``given`` itself, or for ``@NAME`` the text of that preset; ``@@`` begins with one ``@``.

        Raises PresetUnknown, PresetFailed.
        """
        if given.startswith("@@"):
            return given[1:]
        return self.find(given[1:]).text if given.startswith("@") else given

    def find(self, name: str) -> Preset:
        """One preset. Raises PresetUnknown, PresetFailed."""
        wanted = name.strip().lower()
        if wanted in self._own_names():
            return Preset(wanted, self._read(wanted), own=True)
        if wanted in BUILTIN:
            return Preset(wanted, BUILTIN[wanted], own=False)
        known = [*self._own_names(), *BUILTIN]
        raise PresetUnknown(name, difflib.get_close_matches(wanted, known, 1))

    def all(self) -> tuple[list[Preset], list[PresetFailed]]:
        """All presets by name, and what is wrong with files that cannot be read."""
        presets, failed = list[Preset](), list[PresetFailed]()
        for name in sorted({*self._own_names(), *BUILTIN}):
            try:
                presets.append(self.find(name))
            except PresetFailed as error:
                failed.append(error)
        return presets, failed

    def save(self, name: str, text: str) -> str:
        """Keep ``text`` as one's own preset; returns its name.

        Raises PresetNameInvalid, PresetExists, PresetFailed.
        """
        name, path = self._place(name)
        data = text.encode("utf-8", "replace")
        if len(data) > _MAX_BYTES:
            raise PresetFailed(str(path), f"it is longer than {_MAX_BYTES} bytes")
        try:
            make_folder(self.path)
            write_whole(path, data, replace=False)
        except FileExistsError:
            if self._read(name) != text.strip():
                raise PresetExists(name) from None
        except OSError as error:
            raise PresetFailed(str(path), reason(error)) from error
        return name

    def delete(self, name: str) -> str:
        """Take one's own preset away; returns its name.

        Raises PresetNameInvalid, PresetUnknown, PresetFailed.
        """
        name, path = self._place(name)
        try:
            path.unlink()
        except FileNotFoundError:
            raise PresetUnknown(name, ()) from None
        except OSError as error:
            raise PresetFailed(str(path), reason(error)) from error
        return name

    def _place(self, name: str) -> tuple[str, Path]:
        name = name.strip().removeprefix("@").lower()
        if _NAME.fullmatch(name) is None:
            raise PresetNameInvalid(name)
        return name, self.path / f"{name}{SUFFIX}"

    def _own_names(self) -> list[str]:
        try:
            names = sorted(path.name for path in self.path.iterdir())
        except OSError:
            return []
        stems = [name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)]
        return [stem for stem in stems if _NAME.fullmatch(stem)][:_MOST]

    def _read(self, name: str) -> str:
        path = self.path / f"{name}{SUFFIX}"
        try:
            text = read_regular(path, _MAX_BYTES).decode("utf-8").strip()
        except OSError as error:
            raise PresetFailed(str(path), reason(error)) from error
        except UnicodeDecodeError:
            raise PresetFailed(str(path), "it is not UTF-8 text") from None
        if not text:
            raise PresetFailed(str(path), "it is empty")
        return text
