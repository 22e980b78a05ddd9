"""Errors of a translated request, told by the names of the request that was sent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from split_client.generation.errors import InvalidSamplingParameter
from split_server.compat.openai.errors import OpenAIError

# A pattern of a parameter's path in OpenAI's request, and what it is called in the other one.
Renames = Sequence[tuple[re.Pattern[str], str]]


def renames(*pairs: tuple[str, str]) -> Renames:
    """From regular expressions, which match a path from its beginning, and replacements."""
    return tuple((re.compile(pattern), name) for pattern, name in pairs)


@contextmanager
def renamed(names: Renames) -> Iterator[None]:
    """Errors that are raised within speak of the parameters of the other request."""
    try:
        yield
    except InvalidSamplingParameter as error:
        found = _other(error.field, names)
        if found != error.field:
            error.args = (str(error).replace(error.field, found),)
            error.field = found
        raise
    except OpenAIError as error:
        if error.param is not None:
            found = _other(error.param, names)
            error.args = (str(error).replace(error.param, found, 1),)
            error.param = found
        raise


def _other(param: str, names: Renames) -> str:
    for pattern, name in names:
        if pattern.match(param):
            return pattern.sub(name, param, count=1)
    return param
