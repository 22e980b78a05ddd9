"""Every field of the references of each API is honoured, refused by its name, or on its page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openai.types.chat import completion_create_params as chat_params
from openai.types.completion_create_params import CompletionCreateParamsBase

from split_client.errors import ClientError
from split_client.generation.errors import InvalidSamplingParameter
from split_server.compat.accepted.kobold import KOBOLD
from split_server.compat.accepted.openai import CHAT, OPENAI
from split_server.compat.kobold.errors import KoboldError
from split_server.compat.kobold.request import Defaults, KoboldRequest, kobold_request
from split_server.compat.openai.errors import OpenAIError
from tests.split_server.compat.kobold.test_request import INFO, OWN
from tests.split_server.compat.openai.requests import chat, completion

_CHAT = set(chat_params.CompletionCreateParamsBase.__annotations__) | {"stream"}
_TEXT = set(CompletionCreateParamsBase.__annotations__) | {"stream"}
# Of servers that have more fields than OpenAI's, and of the front-ends that send them.
_FURTHER = json.loads(Path(__file__).with_name("references.json").read_text())
_KOBOLD = _FURTHER.pop("kobold")
_OTHERS = {name for names in _FURTHER.values() for name in names}
# Of each kind that a field may have; none says nothing.
_VALUES: list[Any] = ["some", 0.3, 3, True, [1], ["some"], {"some": 1}]
_REFUSALS = (OpenAIError, KoboldError, InvalidSamplingParameter, ClientError)


def _names(error: Exception, name: str) -> bool:
    """Whether ``error`` says that it is about the field ``name``."""
    param = error.param if isinstance(error, OpenAIError) else getattr(error, "field", None)
    return name in (str(param).partition(".")[0], str(param)) or name in str(error)


def _honours(name: str, value: Any, ask: Callable[..., Any]) -> bool:
    """Whether the request becomes another one; one that is refused names the field."""
    try:
        return bool(ask(**{name: value}) != ask())
    except _REFUSALS as refusal:
        return _names(refusal, name)


def _check(name: str, ask: Callable[..., Any], harmless: frozenset[str]) -> None:
    assert name in harmless or any(_honours(name, value, ask) for value in _VALUES)


# What has an effect with other fields, or none but on how an answer is sent.
_BESIDE = {
    "prompt_cache_key": "routes requests to machines, and here is one",
    "stream_options": "without stream it has no effect",
    "parallel_tool_calls": "without tools it has no effect",
    "tool_choice": "without tools it has no effect",
    "function_call": "without functions it has no effect",
    "top_logprobs": "refused without logprobs",
}


@pytest.mark.parametrize("name", sorted((_CHAT | _OTHERS) - _BESIDE.keys()))
def test_a_field_of_a_chat_is_never_ignored_in_silence(name: str) -> None:
    _check(name, chat, CHAT.harmless)


@pytest.mark.parametrize("name", sorted((_TEXT | _OTHERS) - _BESIDE.keys()))
def test_a_field_of_a_text_is_never_ignored_in_silence(name: str) -> None:
    _check(name, completion, OPENAI.harmless)


@pytest.mark.parametrize("name", _KOBOLD)
def test_a_field_of_kobold_is_never_ignored_in_silence(name: str) -> None:
    def ask(**values: Any) -> KoboldRequest:
        asked = {"prompt": "x", "return_attention": True, **values}
        return kobold_request(asked, INFO, Defaults(OWN))

    _check(name, ask, KOBOLD.harmless)
