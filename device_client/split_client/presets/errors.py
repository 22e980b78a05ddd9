"""Errors of presets of the system message."""

from __future__ import annotations

from collections.abc import Sequence

from split_client.errors import ClientError


class PresetError(ClientError):
    """Base of the tree: PresetUnknown, PresetNameInvalid, PresetExists, PresetFailed."""

    code = "preset_error"


class PresetUnknown(PresetError):
    """There is no preset of this name."""

    code = "preset_unknown"

    def __init__(self, name: str, near: Sequence[str]) -> None:
        hint = f"did you mean @{near[0]}?" if near else "/presets lists them"
        super().__init__(f"there is no preset @{name[:60]}; {hint}")


class PresetNameInvalid(PresetError):
    """A name that a preset cannot have."""

    code = "preset_name_invalid"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name[:60]!r} cannot be the name of a preset: 1 to 40 of a-z, 0-9, '-' and '_'"
        )


class PresetExists(PresetError):
    """One's own presets are not lost for new ones."""

    code = "preset_exists"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"there is a preset @{name} with another text; choose another name, "
            f"or take it away first with /preset delete {name}"
        )


class PresetFailed(PresetError):
    """The file of a preset cannot be read or written."""

    code = "preset_failed"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"cannot use {path}: {why}")
