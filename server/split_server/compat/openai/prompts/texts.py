"""A field that is one text, or several, each as a text or as token ids."""

from __future__ import annotations

from typing import Any, TypeAlias

from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import as_text
from split_server.compat.openai.model import ServedModel

PromptText: TypeAlias = str | tuple[int, ...]


def parse_texts(value: Any, path: str, served: ServedModel, most: int) -> tuple[PromptText, ...]:
    """``value`` at ``path``: at most so many, in order. Raises InvalidParameter."""
    wanted = f"a text, a list of 1..{most} texts, token ids, or a list of lists of token ids"
    if isinstance(value, str):
        return (as_text(value, path),)
    if not isinstance(value, list) or not value:
        raise InvalidParameter(path, wanted)
    if isinstance(value[0], int):
        return (_ids(value, path, served.vocab_size, wanted),)
    if len(value) > most:
        raise InvalidParameter(path, wanted)
    return tuple(
        as_text(item, f"{path}[{index}]")
        if isinstance(item, str)
        else _ids(item, f"{path}[{index}]", served.vocab_size, wanted)
        for index, item in enumerate(value)
    )


def _ids(value: Any, path: str, vocab_size: int, wanted: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not value:
        raise InvalidParameter(path, wanted)
    if not all(type(token) is int and 0 <= token < vocab_size for token in value):
        raise InvalidParameter(path, f"token ids below {vocab_size}")
    return tuple(value)
