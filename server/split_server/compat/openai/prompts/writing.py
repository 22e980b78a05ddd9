"""The fields that say how the chat template writes a chat."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from split_client.errors import TemplateFailed
from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields

MAX_VARIABLES = 64 * 1024
# What a template gets from the request itself, or from the model.
_OWN = frozenset(
    {"messages", "tools", "documents", "add_generation_prompt", "continue_final_message"}
)


@dataclass(frozen=True, slots=True)
class Writing:
    """``variables``: of the template, besides its own; ``answered``: whether it goes on to where
    an answer begins; ``continued``: the last message is left open, and the reply continues it;
    ``special``: whether the tokenizer adds what a text begins with.
    """

    variables: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    answered: bool = True
    continued: bool = False
    special: bool = False


USUAL_WRITING = Writing()
UNANSWERED = Writing(answered=False)


def parse_writing(fields: Fields, messages: Sequence[Mapping[str, Any]]) -> Writing:
    """Raises InvalidParameter."""
    continued = fields.flag("continue_final_message")
    answered = fields.flag("add_generation_prompt", default=not continued)
    if continued:
        _check_continued(fields, messages, answered)
    special = fields.flag("add_special_tokens")
    return Writing(_variables(fields), answered, continued, special)


def open_ended(
    messages: Sequence[dict[str, Any]],
) -> tuple[list[dict[str, Any]], str]:
    """``messages`` with a mark at the end of the last one, and the mark."""
    mark = f"|end-{secrets.token_hex(16)}|"
    last = messages[-1]
    return [*messages[:-1], {**last, "content": last["content"] + mark}], mark


def cut_at(text: str, mark: str) -> str:
    """``text`` up to the ``mark``. Raises TemplateFailed where it was not written out."""
    before, found, _ = text.rpartition(mark)
    if not found:
        raise TemplateFailed("it does not write the last message as it is, to be continued")
    return before


def _check_continued(fields: Fields, messages: Sequence[Mapping[str, Any]], answered: bool) -> None:
    if answered:
        wanted = "false where continue_final_message is true"
        raise InvalidParameter(fields.path("add_generation_prompt"), wanted)
    last = messages[-1]
    if last["role"] != "assistant" or last.get("tool_calls"):
        wanted = "false unless the last message is a text of the assistant"
        raise InvalidParameter(fields.path("continue_final_message"), wanted)


def _variables(fields: Fields) -> dict[str, Any]:
    variables = dict(fields.document("chat_template_kwargs", MAX_VARIABLES) or {})
    for name in variables:
        if name in _OWN or not name.isidentifier():
            path = fields.path(f"chat_template_kwargs.{name[:64]}")
            raise InvalidParameter(path, "another name: the template gets it from the request")
    effort = fields.text("reasoning_effort", 64)
    if effort is not None:
        variables.setdefault("reasoning_effort", effort)
    return variables
