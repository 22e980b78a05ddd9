"""Requests of Ollama's form, read as chats and texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from split_client.generation.errors import InvalidSamplingParameter
from split_client.grammar.form import JsonObject, JsonSchema
from split_server.compat.ollama.known import CHAT, FUNCTION, GENERATE, MESSAGE, OPTIONS, SHOW
from split_server.compat.ollama.request import (
    OllamaRequest,
    parse_ollama_chat,
    parse_ollama_generate,
)
from split_server.compat.openai.chat_request import ChatRequest
from split_server.compat.openai.completion_request import CompletionRequest
from split_server.compat.openai.errors import ModelNotFound, OpenAIError
from split_server.compat.openai.fields import parse_body
from tests.split_server.compat.openai.requests import MAKERS, SERVED, tool

HELLO = [{"role": "user", "content": "Hello"}]
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
DOCS = Path(__file__).parents[4] / "docs" / "ollama-api.md"


def parse_chat(**values: Any) -> OllamaRequest:
    body = json.dumps({"model": "tiny", "messages": HELLO} | values).encode()
    return parse_ollama_chat(parse_body(body), SERVED)


def parse_generate(**values: Any) -> OllamaRequest:
    body = json.dumps({"model": "tiny", "prompt": "Hello"} | values).encode()
    return parse_ollama_generate(parse_body(body), SERVED)


def chat(**values: Any) -> ChatRequest:
    asked = parse_chat(**values).asked
    assert isinstance(asked, ChatRequest)
    return asked


def refused(parse: Any, **values: Any) -> str | None:
    with pytest.raises((OpenAIError, InvalidSamplingParameter)) as error:
        parse(**values)
    found = error.value
    return found.field if isinstance(found, InvalidSamplingParameter) else found.param


@pytest.mark.parametrize("name", ["tiny", "tiny:latest", "maker/tiny:latest", "gatelink"])
def test_the_model_has_its_names_with_a_tag_or_without(name: str) -> None:
    assert parse_chat(model=name).model == name
    assert parse_chat(model=None, name=name).model == name


@pytest.mark.parametrize("name", ["other", "tiny:7b", "tiny:latest:latest"])
def test_any_other_model_is_unknown(name: str) -> None:
    with pytest.raises(ModelNotFound):
        parse_chat(model=name)


def test_an_answer_is_a_stream_unless_it_is_not_to_be() -> None:
    assert parse_chat().stream
    assert not parse_chat(stream=False).stream
    assert not chat(stream=False).options.stream


def test_without_options_the_makers_defaults_hold_up_to_the_end_of_the_context() -> None:
    options = chat().options
    assert options.params == MAKERS
    assert options.max_tokens == SERVED.max_context


def test_options_are_those_of_a_chat() -> None:
    options = chat(
        options={
            "temperature": 0.5,
            "top_k": 4,
            "top_p": 0.9,
            "min_p": 0.1,
            "repeat_penalty": 1.2,
            "repeat_last_n": -1,
            "presence_penalty": 0.3,
            "frequency_penalty": 0.2,
            "seed": 7,
            "num_predict": 9,
            "stop": ["x"],
            "num_ctx": 4096,
            "mirostat": 0,
        }
    ).options
    params = options.params
    assert (params.temperature, params.top_k, params.top_p, params.min_p) == (0.5, 4, 0.9, 0.1)
    assert (params.repetition_penalty, params.presence_penalty) == (1.2, 0.3)
    assert (params.frequency_penalty, params.seed) == (0.2, 7)
    assert (options.max_tokens, options.stops) == (9, ("x",))


@pytest.mark.parametrize("limit", [-1, -2, None])
def test_no_limit_is_that_of_the_context(limit: int | None) -> None:
    assert chat(options={"num_predict": limit}).options.max_tokens == SERVED.max_context


def test_a_negative_seed_is_any() -> None:
    assert chat(options={"seed": -1}).options.params.seed is None
    assert chat(options={"seed": 0}).options.params.seed == 0


def test_penalties_over_no_tokens_are_none() -> None:
    options = chat(options={"repeat_last_n": 0, "repeat_penalty": 1.5}).options
    assert options.params.repetition_penalty == 1.0


def test_a_window_is_that_of_the_repetition_penalty() -> None:
    params = chat(options={"repeat_last_n": 64, "repeat_penalty": 1.5}).options.params
    assert (params.repetition_penalty, params.repetition_range) == (1.5, 64)


@pytest.mark.parametrize("penalty", ["presence_penalty", "frequency_penalty"])
def test_a_window_of_other_penalties_is_refused_only_where_there_are_some(penalty: str) -> None:
    assert chat(options={"repeat_last_n": 64, penalty: 0.0})
    given = {"repeat_last_n": 64, penalty: 0.5}
    assert refused(parse_chat, options=given) == "options.repeat_last_n"
    assert refused(parse_chat, options={"repeat_last_n": 1 << 40}) == "options.repeat_last_n"


def test_line_ends_are_not_spared_by_penalties() -> None:
    assert chat(options={"penalize_newline": False, "repeat_penalty": 1.0})
    given = {"penalize_newline": False, "repeat_penalty": 1.1}
    assert refused(parse_chat, options=given) == "options.penalize_newline"


def test_messages_are_those_of_a_chat_with_ids_for_their_calls() -> None:
    call = {"function": {"name": "look", "arguments": {"at": 1}}}
    asked = chat(
        messages=[
            {"role": "system", "content": "Be brief."},
            *HELLO,
            {"role": "assistant", "thinking": "hm", "tool_calls": [call, call]},
            {"role": "tool", "content": "a star", "tool_name": "look"},
            {"role": "tool", "content": "a moon"},
        ]
    )
    roles = [message["role"] for message in asked.messages]
    assert roles == ["system", "user", "assistant", "tool", "tool"]
    calls = asked.messages[2]["tool_calls"]
    assert [each["function"] for each in calls] == 2 * [{"name": "look", "arguments": {"at": 1}}]
    assert [message["tool_call_id"] for message in asked.messages[3:]] == [
        call["id"] for call in calls
    ]
    assert asked.messages[3]["name"] == "look"


def test_tools_and_formats_are_those_of_a_chat() -> None:
    tools = chat(tools=[tool("look", SCHEMA)]).tools
    assert tools is not None
    assert tools.names == {"look"}
    assert chat(format="").form is None
    object_form, schema_form = chat(format="json").form, chat(format=SCHEMA).form
    assert object_form is not None
    assert object_form.form == JsonObject()
    assert schema_form is not None
    assert schema_form.form == JsonSchema.of(SCHEMA)


def test_a_prompt_is_a_chat_of_its_own() -> None:
    asked = parse_generate(system="Be brief.", logprobs=True, top_logprobs=2).asked
    assert isinstance(asked, ChatRequest)
    assert [message["content"] for message in asked.messages] == ["Be brief.", "Hello"]
    assert asked.logprobs == 2


def test_a_raw_prompt_is_continued_as_it_is() -> None:
    asked = parse_generate(raw=True, options={"num_predict": 4}, logprobs=True).asked
    assert isinstance(asked, CompletionRequest)
    assert (asked.prompts, asked.options.max_tokens, asked.logprobs) == (("Hello",), 4, 0)


@pytest.mark.parametrize(
    ("keep_alive", "unload"),
    [(None, False), (0, True), ("0", True), ("0s", True), (5, False), ("10m", False), (-1, False)],
)
def test_without_a_prompt_nothing_is_generated(keep_alive: Any, unload: bool) -> None:
    for asked in (
        parse_chat(messages=[], keep_alive=keep_alive),
        parse_generate(prompt="", keep_alive=keep_alive),
    ):
        assert (asked.asked, asked.unload) == (None, unload)


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"model": None}, "model"),
        ({"model": 5}, "model"),
        ({"messages": [{"content": "a"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": ["a"]}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "images": ["aaaa"]}]}, "messages[0].images"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, None),
        ({"options": []}, "options"),
        ({"options": {"temperature": 3}}, "options.temperature"),
        ({"options": {"min_p": 3}}, "options.min_p"),
        ({"options": {"repeat_penalty": 0}}, "options.repeat_penalty"),
        ({"options": {"num_predict": 0}}, "options.num_predict"),
        ({"options": {"stop": [5]}}, "options.stop[0]"),
        ({"options": {"seed": "a"}}, "options.seed"),
        ({"options": {"unheard_of": 1}}, "options.unheard_of"),
        ({"format": "xml"}, "format"),
        ({"format": 5}, "format"),
        ({"keep_alive": "for ever"}, "keep_alive"),
        ({"keep_alive": []}, "keep_alive"),
        ({"think": True}, "think"),
        ({"think": "low"}, "think"),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"tools": [{"type": "function"}]}, "tools[0].name"),
        ({"template": "{{ .Prompt }}"}, "template"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_as_it_was_sent(values: dict[str, Any], param: str | None) -> None:
    found = refused(parse_chat, **values)
    assert param is None or found == param


# Of the API's reference, and of the type definitions of its client for Python.
CHAT_REFERENCE = (
    "format", "keep_alive", "logprobs", "messages", "model", "options", "shift", "stream", "think",
    "tools", "top_logprobs", "truncate",
)  # fmt: skip
GENERATE_REFERENCE = (
    "context", "format", "height", "images", "keep_alive", "logprobs", "model", "options", "prompt",
    "raw", "shift", "steps", "stream", "suffix", "system", "template", "think", "top_logprobs",
    "truncate", "width",
)  # fmt: skip
OPTIONS_REFERENCE = (
    "draft_num_predict", "embedding_only", "f16_kv", "frequency_penalty", "logits_all", "low_vram",
    "main_gpu", "min_p", "mirostat", "mirostat_eta", "mirostat_tau", "num_batch", "num_ctx",
    "num_gpu", "num_keep", "num_predict", "num_thread", "numa", "penalize_newline",
    "presence_penalty", "repeat_last_n", "repeat_penalty", "seed", "stop", "temperature", "tfs_z",
    "top_k", "top_p", "typical_p", "use_mlock", "use_mmap", "vocab_only",
)  # fmt: skip


def test_every_field_of_the_reference_is_honoured_or_refused_or_listed() -> None:
    assert set(CHAT_REFERENCE) == CHAT.names - {"cache", "cache_salt", "name", "template"}
    assert set(GENERATE_REFERENCE) == GENERATE.names - {"cache", "cache_salt", "name"}
    assert set(OPTIONS_REFERENCE) == OPTIONS.names
    told = DOCS.read_text()
    for known in (CHAT, GENERATE, OPTIONS, MESSAGE, FUNCTION, SHOW):
        for name in (*known.harmless, *known.neutral):
            assert f"`{name}`" in told, name


@pytest.mark.parametrize("name", [*GENERATE.neutral, "unheard_of"])
def test_a_field_that_would_be_ignored_is_refused(name: str) -> None:
    assert refused(parse_generate, **{name: "something"}) == name


@pytest.mark.parametrize("name", sorted(OPTIONS.harmless))
def test_an_option_without_effect_changes_nothing(name: str) -> None:
    assert chat(options={name: 5}) == chat()
