"""Errors of settings. Every message names where the value came from."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar


class SettingsError(Exception):
    """Base of all errors of this package; ``code`` is stable."""

    code: ClassVar[str] = "bad_settings"


class BadValue(SettingsError):
    """A value that its setting cannot take.

    ``source`` is the flag, the variable or the file's key. ``reason`` never contains the value of
    a secret.
    """

    code = "bad_value"

    def __init__(self, source: str, reason: str) -> None:
        super().__init__(f"{source}: {reason}")
        self.source = source
        self.reason = reason


class UnknownKey(SettingsError):
    """A key or table in the TOML file that nothing reads."""

    code = "unknown_key"

    def __init__(self, path: str, key: str, suggestions: tuple[str, ...] = ()) -> None:
        hint = f"; did you mean {' or '.join(suggestions)}?" if suggestions else ""
        super().__init__(f"{path}: unknown setting {key}{hint}")
        self.path = path
        self.key = key
        self.suggestions = suggestions


class UnreadableFile(SettingsError):
    """The TOML file could not be read."""

    code = "unreadable_file"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"cannot read the configuration file {path}: {reason}")
        self.path = path
        self.reason = reason


class MalformedFile(SettingsError):
    """The file was read and is not TOML 1.0."""

    code = "malformed_file"

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} is not valid TOML: {reason}")
        self.path = path
        self.reason = reason
