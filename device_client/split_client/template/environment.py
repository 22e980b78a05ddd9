"""The Jinja environment that chat templates are written for, as Hugging Face's renderer has it."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, NoReturn

from jinja2 import TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace


def environment() -> ImmutableSandboxedEnvironment:
    """A fresh environment. Templates see plain JSON values and these names, nothing else."""
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols]
    )
    env.filters["tojson"] = _tojson
    env.globals = {
        "range": env.globals["range"],
        "dict": _make_dict,
        "cycler": env.globals["cycler"],
        "joiner": env.globals["joiner"],
        "namespace": _TemplateNamespace,
        "raise_exception": _raise,
        "strftime_now": _strftime_now,
    }
    return env


class _Generation(Extension):
    """``{% generation %}`` marks what an assistant says for training; here it is its content."""

    tags = {"generation"}  # noqa: RUF012 - Jinja's own declaration

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return list(parser.parse_statements(("name:endgeneration",), drop_needle=True))


class _TemplateNamespace(Namespace):
    """Jinja's namespace without names that lead into the interpreter."""

    def __init__(*args: Any, **kwargs: Any) -> None:
        self, rest = args[0], args[1:]
        attributes = dict(*rest, **kwargs)
        for name in attributes:
            _refuse_private(name)
        Namespace.__init__(self, attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _refuse_private(name)
        super().__setitem__(name, value)


def _refuse_private(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError("a namespace has no names that begin with an underscore")


def _make_dict(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    return dict(*args, **kwargs)


def _raise(message: object) -> NoReturn:
    raise TemplateError(str(message))


def _strftime_now(form: str) -> str:
    # A chat template wants the user's own date.
    return datetime.now().strftime(form)


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )
