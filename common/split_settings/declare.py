"""Declarations of a program's settings: dataclass fields that carry their flag, bounds and help."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

_SCALARS = (str, int, float, bool, Path)
_KEY = "split_settings"
_SECTION = "section"


@typing.dataclass_transform(frozen_default=True, kw_only_default=True)
def settings(section: str, *, slots: bool = True) -> Callable[[type[T]], type[T]]:
    """Make a class of options a frozen dataclass; ``section`` is its table and variable prefix.

    A subclass may carry the same section: subcommands of one program share a table; one that has
    another section reads what it inherits from there. A class that is one of several bases goes
    without ``slots``. A frozen dataclass that sets the class variable ``section`` itself is as
    good.
    """

    def decorate(cls: type[T]) -> type[T]:
        made = dataclasses.dataclass(frozen=True, slots=slots, kw_only=True)(cls)
        setattr(made, _SECTION, section)
        return made

    return decorate


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """The facts of a field beside its type and default."""

    help: str
    metavar: str | None
    group: str | None
    choices: tuple[str, ...] | None
    minimum: float | None
    maximum: float | None
    above: float | None
    short: str | None
    secret: bool
    parse: Callable[[str], Any] | None
    numbers: bool
    tables: type[object] | None
    instead_of: str | None


@dataclasses.dataclass(frozen=True, slots=True)
class Setting:
    """One setting, ready to be turned into a flag or looked up.

    ``kind`` is str, int, float, bool or Path; for a setting with its own ``parse`` it is str, for
    ``tables`` dict.
    """

    section: str
    name: str
    kind: type
    repeated: bool
    default: Any
    details: Details

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return f"SPLIT_{self.section}_{self.name}".upper()


def option(
    default: T,
    *,
    help: str,
    metavar: str | None = None,
    group: str | None = None,
    choices: tuple[str, ...] | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    short: str | None = None,
    secret: bool = False,
    parse: Callable[[str], Any] | None = None,
    numbers: bool = False,
    tables: type[object] | None = None,
    instead_of: str | None = None,
) -> T:
    """Declare one setting as a dataclass field.

    The annotation decides the form: ``str``, ``int``, ``float``, ``bool`` (``--x`` / ``--no-x``),
    ``Path``, any of these ``| None``, or ``tuple[X, ...]`` (a flag that may be repeated, a comma
    list in the environment, an array in TOML). ``minimum`` and ``maximum`` are inclusive, ``above``
    is not; ``short`` is a flag of one letter, such as ``-u``. ``str | tuple[str, ...] | None`` is
    repeated for every source, while code may give one text.
    ``parse`` turns text into any other type and raises ``ValueError`` on bad text; with ``numbers``
    a whole number of TOML as well, as if it were written out. A ``secret`` is left out of ``repr``,
    help and error messages.
    ``tables``: an array of tables of the file alone, each read as that declaration, for a field of
    type ``tuple[Declaration, ...]``; they count as absent where a flag or a variable gives the
    setting that they stand ``instead_of``.
    """
    details = Details(
        help=help,
        metavar=metavar,
        group=group,
        choices=choices,
        minimum=minimum,
        maximum=maximum,
        above=above,
        short=short,
        secret=secret,
        parse=parse,
        numbers=numbers,
        tables=tables,
        instead_of=instead_of,
    )
    return dataclasses.field(default=default, repr=not secret, metadata={_KEY: details})


def section_of(cls: type[object]) -> str:
    """The section that :func:`settings` gave the class; ``TypeError`` for any other class."""
    section = getattr(cls, _SECTION, None)
    if not isinstance(section, str):
        raise TypeError(f"{cls.__name__} is not declared with settings()")
    return section


def settings_of(cls: type[object]) -> tuple[Setting, ...]:
    """The settings of a declaration, in the order of its fields.

    Raises ``TypeError`` for a field that :func:`option` did not make or of an unknown type.
    """
    section = section_of(cls)
    hints = typing.get_type_hints(cls)
    fields = dataclasses.fields(typing.cast("Any", cls))
    return tuple(_setting(section, field, hints[field.name]) for field in fields)


def _setting(section: str, field: dataclasses.Field[Any], hint: object) -> Setting:
    details = _details(field)
    if details.tables is not None:
        return Setting(section, field.name, dict, True, field.default, details)
    kind, repeated = (str, False) if details.parse else _shape(field.name, hint)
    if details.parse and typing.get_origin(hint) is tuple:
        repeated = True
    return Setting(section, field.name, kind, repeated, field.default, details)


def _details(field: dataclasses.Field[Any]) -> Details:
    metadata: Mapping[str, Any] = field.metadata
    details = metadata.get(_KEY)
    if not isinstance(details, Details):
        raise TypeError(f"field {field.name} is not declared with option()")
    return details


def _shape(name: str, hint: object) -> tuple[type, bool]:
    """Return (scalar type, repeated) of an annotation."""
    if isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union:
        members = [m for m in typing.get_args(hint) if m is not types.NoneType]
        if len(members) == 1:
            return _shape(name, members[0])
        if members == [str, tuple[str, ...]]:
            return str, True
    if typing.get_origin(hint) is tuple:
        member, *rest = typing.get_args(hint)
        if rest == [Ellipsis] and member in _SCALARS:
            return member, True
    if typing.get_origin(hint) is typing.Literal:
        return str, False
    if isinstance(hint, type) and hint in _SCALARS:
        return hint, False
    raise TypeError(f"field {name} has a type that settings cannot read: {hint}")
