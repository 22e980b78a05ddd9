"""Flag, then variable, then file, then default: one value per setting, decided once."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from split_settings.declare import Setting, section_of, settings_of
from split_settings.errors import BadValue, UnknownKey
from split_settings.toml_file import find_config, read_config
from split_settings.values import from_list_text, from_text, from_toml
from split_settings.variables import unread_variables

T = TypeVar("T")
_MOST_TABLES = 64


def load(
    cls: type[T],
    namespace: argparse.Namespace,
    *,
    environ: Mapping[str, str] | None = None,
    also: tuple[type[object], ...] = (),
    tell: Callable[[str], object] | None = None,
) -> T:
    """Find and read the TOML file, then :func:`resolve` every setting of ``cls``.

    ``tell`` (None: a line on standard error) takes a warning for each variable that no setting
    reads. They are no errors: whoever starts a program may set variables for other purposes.
    """
    environ = os.environ if environ is None else environ
    for warning in unread_variables((cls, *also), environ):
        (tell or _warn)(warning)
    path = find_config(getattr(namespace, "config", None), environ)
    table = read_config(path).get(section_of(cls), {}) if path is not None else {}
    return resolve(cls, namespace, environ, table, path=str(path), also=also)


def resolve(
    cls: type[T],
    namespace: argparse.Namespace,
    environ: Mapping[str, str],
    table: Mapping[str, Any],
    *,
    path: str = "configuration",
    also: tuple[type[object], ...] = (),
) -> T:
    """Build ``cls`` from parsed flags, environment variables and its TOML table.

    ``also`` names other declarations that read the same table (one per subcommand), so that their
    keys are not reported as unknown. An empty variable counts as absent. Raises
    :class:`split_settings.errors.BadValue` or :class:`split_settings.errors.UnknownKey`.
    """
    _refuse_unknown_keys((cls, *also), table, path)
    values = {
        setting.name: _value(setting, namespace, environ, table, path)
        for setting in settings_of(cls)
    }
    return cls(**values)


def _warn(text: str) -> None:
    sys.stderr.write(f"warning: {text}\n")


def _value(
    setting: Setting,
    namespace: argparse.Namespace,
    environ: Mapping[str, str],
    table: Mapping[str, Any],
    path: str,
) -> Any:
    if setting.details.tables is not None:
        return _from_tables(setting, namespace, environ, table, path)
    if hasattr(namespace, setting.name):
        return _from_flag(setting, getattr(namespace, setting.name))
    text = environ.get(setting.variable)
    if text:
        read = from_list_text if setting.repeated else from_text
        return read(setting, text, setting.variable)
    if setting.name in table:
        return from_toml(setting, table[setting.name], f"{path}, {setting.section}.{setting.name}")
    return setting.default


def _from_tables(
    setting: Setting,
    namespace: argparse.Namespace,
    environ: Mapping[str, str],
    table: Mapping[str, Any],
    path: str,
) -> Any:
    """The tables of the file, unless a nearer source has what they stand for."""
    other = setting.details.instead_of
    variable = f"SPLIT_{setting.section}_{other}".upper()
    if setting.name not in table or hasattr(namespace, str(other)) or environ.get(variable):
        return setting.default
    where, given = f"{path}, {setting.section}.{setting.name}", table[setting.name]
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise BadValue(where, f"expected tables, written [[{setting.section}.{setting.name}]]")
    if len(given) > _MOST_TABLES:
        raise BadValue(where, f"{len(given)} are more than {_MOST_TABLES}")
    declared = setting.details.tables or object
    return tuple(resolve(declared, argparse.Namespace(), {}, one, path=path) for one in given)


def _from_flag(setting: Setting, given: Any) -> Any:
    if setting.repeated:
        return tuple(from_text(setting, text, setting.flag) for text in given)
    return given if isinstance(given, bool) else from_text(setting, given, setting.flag)


def _refuse_unknown_keys(
    classes: tuple[type[object], ...], table: Mapping[str, Any], path: str
) -> None:
    known = {setting.name for cls in classes for setting in settings_of(cls)}
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, sorted(known), 2)
            raise UnknownKey(path, f"{section_of(classes[0])}.{key}", tuple(near))
