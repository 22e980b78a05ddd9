from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import pytest

from split_client.api import SamplingParams, SamplingWords, SplitClient
from split_client.api.asked import Asked, messages_of
from split_client.api.asynchronous import AsyncSplitClient, ClientOptions
from split_client.chat.conversation import Message
from split_client.errors import MessageInvalid
from split_client.generation.errors import InvalidSamplingParameter

DEFAULTS = SamplingParams(temperature=0.7, top_k=20)


def asked(stop: Any = (), params: SamplingParams | None = None, **words: Any) -> Asked:
    return Asked.of("x", params, SamplingWords(**words), 8, stop, None)


@pytest.mark.parametrize(
    ("given", "stops"),
    [("machines", ("machines",)), (["a", "b"], ("a", "b")), ((), ()), (iter(["x"]), ("x",))],
)
def test_a_text_is_one_stop_and_not_its_letters(given: Any, stops: tuple[str, ...]) -> None:
    assert asked(given).stop == stops


def test_a_stop_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidSamplingParameter, match="stop"):
        asked([1])


def test_words_change_single_settings_of_the_params_or_of_the_models_own() -> None:
    assert asked(temperature=0).sampling(DEFAULTS) == SamplingParams(top_k=20)
    mine = SamplingParams(top_p=0.5)
    assert asked(params=mine, seed=3).sampling(DEFAULTS) == SamplingParams(top_p=0.5, seed=3)
    assert asked(seed=None).sampling(DEFAULTS) is not mine
    assert asked(top_k=None).sampling(DEFAULTS) == DEFAULTS


def test_every_sampling_setting_is_a_word() -> None:
    assert list(get_type_hints(SamplingWords)) == list(get_type_hints(SamplingParams))


def test_a_wrong_word_is_told_at_once_with_the_one_that_was_meant() -> None:
    with pytest.raises(TypeError, match="did you mean 'temperature'"):
        asked(temprature=0)
    with pytest.raises(InvalidSamplingParameter, match="temperature"):
        asked(temperature=200)


def test_a_text_is_one_message_of_the_user() -> None:
    assert messages_of("hello") == (Message("user", "hello"),)


@pytest.mark.parametrize("role", ["User", "function", "bot", ""])
def test_unknown_roles_are_refused_by_name(role: str) -> None:
    with pytest.raises(MessageInvalid, match=f"message 1: the role '{role}' is none of system"):
        messages_of([{"role": "user", "content": "x"}, {"role": role, "content": "y"}])


def test_both_clients_have_one_surface() -> None:
    named = inspect.signature(SplitClient.__init__).parameters
    assert [*get_type_hints(ClientOptions)] == [n for n in named if n not in ("self", "url")]
    for method in ("chat", "generate", "conversation"):
        of: list[Callable[..., object]] = [
            getattr(c, method) for c in (SplitClient, AsyncSplitClient)
        ]
        plain, other = (dict(inspect.signature(call).parameters) for call in of)
        assert plain == other
    public = {name for name in dir(SplitClient) if not name.startswith("_")}
    own = {"begin", "resume", "sequence"}
    assert public - own <= set(vars(AsyncSplitClient))
