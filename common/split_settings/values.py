"""From text (flag, variable) or a TOML value to the setting's own type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from split_settings.declare import Setting
from split_settings.errors import BadValue

_LARGEST = 2**63
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_WORDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Path: "a path",
}


def from_text(setting: Setting, text: str, source: str) -> Any:
    """Parse one text value; raises :class:`BadValue` naming ``source``."""
    try:
        value = _parse(setting, text)
    except ValueError as error:
        raise BadValue(source, _reason(setting, error, text)) from None
    return _checked(setting, value, source)


def from_list_text(setting: Setting, text: str, source: str) -> tuple[Any, ...]:
    """Parse a comma list, the form that repeated settings have in the environment."""
    parts = (part.strip() for part in text.split(","))
    return tuple(from_text(setting, part, source) for part in parts if part)


def from_toml(setting: Setting, value: object, source: str) -> Any:
    """Take a TOML value; a repeated setting accepts an array or a single value."""
    if not setting.repeated:
        return _toml_scalar(setting, value, source)
    items = value if isinstance(value, list) else [value]
    return tuple(_toml_scalar(setting, item, source) for item in items)


def _toml_scalar(setting: Setting, value: object, source: str) -> Any:
    if setting.kind in (str, Path) and isinstance(value, str):
        return from_text(setting, value, source)
    if setting.kind is bool and isinstance(value, bool):
        return value
    if setting.details.numbers and type(value) is int:
        return from_text(setting, str(value), source)
    # bool is a subclass of int, and TOML tells the two apart.
    if setting.kind is int and isinstance(value, int) and not isinstance(value, bool):
        return _checked(setting, value, source)
    if setting.kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return _checked(setting, value, source)
    raise BadValue(source, f"expected {_WORDS[setting.kind]}, got {_toml_word(value)}")


def _parse(setting: Setting, text: str) -> Any:
    if setting.details.parse is not None:
        return setting.details.parse(text)
    if setting.kind is bool:
        return _boolean(text)
    if setting.kind is Path:
        return _path(text)
    return setting.kind(text)


def _path(text: str) -> Path:
    if not text or "\0" in text:
        raise ValueError
    try:
        return Path(text).expanduser()
    except RuntimeError as error:  # "~name" of an account that does not exist
        raise ValueError from error


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError


def _reason(setting: Setting, error: ValueError, text: str) -> str:
    if setting.details.secret:
        return f"expected {_WORDS[setting.kind]}; the value is not shown"
    if setting.details.parse is not None:
        return str(error)
    return f"expected {_WORDS[setting.kind]}, got {text!r}"


def _checked(setting: Setting, value: Any, source: str) -> Any:
    details = setting.details
    if details.choices is not None and value not in details.choices:
        shown = "the value" if details.secret else repr(value)
        raise BadValue(source, f"{shown} is not one of {', '.join(details.choices)}")
    if setting.kind in (int, float):
        _check_bounds(setting, value, source)
    return float(value) if setting.kind is float else value


def _check_bounds(setting: Setting, value: float, source: str) -> None:
    low, high = setting.details.minimum, setting.details.maximum
    # One comparison refuses nan, infinities and integers too large to be printed or converted.
    if not abs(value) <= _LARGEST:
        raise BadValue(source, "expected a finite number below 2^63")
    above = setting.details.above
    if above is not None and value <= above:
        raise BadValue(source, f"{value} is not above {above}")
    if low is not None and value < low:
        raise BadValue(source, f"{value} is below the smallest allowed value {low}")
    if high is not None and value > high:
        raise BadValue(source, f"{value} is above the largest allowed value {high}")


def _toml_word(value: object) -> str:
    words: dict[type, str] = {bool: "a boolean", int: "a whole number", float: "a number"}
    words |= {str: "text", list: "an array", dict: "a table"}
    return words.get(type(value), "a date or time")
