from __future__ import annotations

from typing import Any

import pytest

from split_client.grammar.form import Choice, Form, Gbnf, JsonObject, JsonSchema, Lark, Regex
from split_server.compat.openai.errors import (
    InvalidParameter,
    ModelNotFound,
    OpenAIError,
    UnsupportedParameter,
)
from tests.split_server.compat.openai.requests import HELLO, chat, tool


@pytest.mark.parametrize("name", ["maker/tiny", "tiny", "gatelink"])
def test_the_served_model_answers_to_its_name_its_last_part_and_the_alias(name: str) -> None:
    assert chat(model=name).messages == tuple(HELLO)


def test_a_request_without_a_model_means_the_served_one() -> None:
    assert chat(model=None).messages == chat(model="").messages == tuple(HELLO)


@pytest.mark.parametrize("name", ["gpt-4o", "maker"])
def test_another_model_is_not_found(name: str) -> None:
    with pytest.raises(ModelNotFound) as caught:
        chat(model=name)
    assert (caught.value.status, caught.value.param) == (404, "model")


def test_fields_that_change_no_reply_are_passed_over() -> None:
    assert chat(user="u", store=True, metadata={"a": 1}, whatever=[]).options.choices == 1


@pytest.mark.parametrize(
    "messages",
    [
        None,
        [],
        "Hello",
        ["Hello"],
        [{"content": "x"}],
        [{"role": "king", "content": "x"}],
        [{"role": "user"}],
        [{"role": "user", "content": 3}],
        [{"role": "user", "content": [3]}],
        [{"role": "user", "content": [{"type": "text"}]}],
        [{"role": "assistant", "tool_calls": [{"function": {}}]}],
        [{"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": {}}}]}],
        HELLO * 4097,
    ],
    ids=range(13),
)
def test_messages_of_another_form_are_refused(messages: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        chat(messages=messages)
    assert caught.value.param is not None
    assert caught.value.param.startswith("messages")


def test_parts_of_text_are_joined_and_the_developer_is_the_system() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    asked = chat(messages=[{"role": "developer", "content": parts}])
    assert asked.messages == ({"role": "system", "content": "a\nb"},)


@pytest.mark.parametrize("kind", ["image_url", "input_audio", "file", None])
def test_parts_that_are_no_text_are_refused_in_words(kind: str | None) -> None:
    part = {"type": kind, "image_url": {"url": "x"}}
    with pytest.raises(UnsupportedParameter, match="parts of type text"):
        chat(messages=[{"role": "user", "content": [part]}])


def test_calls_and_their_results_are_given_to_the_template_as_values() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": [1]}'}}
    asked = chat(
        messages=[
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "name": "f", "content": "2"},
        ]
    )
    assistant, result = asked.messages
    assert assistant["content"] == ""
    assert assistant["tool_calls"][0]["function"] == {"name": "f", "arguments": {"a": [1]}}
    assert result == {"role": "tool", "content": "2", "name": "f", "tool_call_id": "c1"}


@pytest.mark.parametrize("arguments", ["", "not json", "[1]", "3"])
def test_arguments_that_are_no_object_stay_text(arguments: str) -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": arguments}}
    asked = chat(messages=[{"role": "assistant", "tool_calls": [call]}])
    assert asked.messages[0]["tool_calls"][0]["function"]["arguments"] == arguments


def test_the_newer_limit_of_tokens_counts_before_the_older() -> None:
    assert chat(max_tokens=5).options.max_tokens == 5
    assert chat(max_tokens=5, max_completion_tokens=7).options.max_tokens == 7
    assert chat().options.max_tokens == 1024


def test_a_reply_has_at_most_what_the_context_leaves() -> None:
    assert chat().options.reply_tokens(10, 4096) == 1024
    assert chat().options.reply_tokens(4000, 4096) == 97
    assert chat(max_tokens=5000).options.reply_tokens(96, 4096) == 4001
    assert chat(max_tokens=3).options.reply_tokens(4096, 4096) == 1


@pytest.mark.parametrize(
    ("values", "param"),
    [
        ({"n": 9}, "n"),
        ({"n": 0}, "n"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_completion_tokens": "5"}, "max_completion_tokens"),
        ({"stream": "yes"}, "stream"),
        ({"stop": 3}, "stop"),
        ({"stop": ["a"] * 129}, "stop"),
        ({"stop": ["a", 3]}, "stop[1]"),
        ({"stop": "a" * 257}, "stop[0]"),
        ({"stream": True, "stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"logprobs": 3}, "logprobs"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"functions": [{}]}, "tools[0].function.name"),
        ({"functions": [{"name": "f"}], "tools": [tool("f")]}, "functions"),
        ({"response_format": "json"}, "response_format"),
        ({"response_format": {"type": "xml"}}, "response_format.type"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema.schema"),
        ({"tools": [{"type": "web"}]}, "tools[0].type"),
        ({"tools": [tool("a b")]}, "tools[0].function.name"),
        ({"tools": [tool("a"), tool("a")]}, "tools"),
        ({"tools": [tool("a")], "tool_choice": "b"}, "tool_choice"),
        (
            {"tools": [tool("a")], "tool_choice": {"type": "function", "function": {"name": "b"}}},
            "tool_choice.function.name",
        ),
        ({"tools": [tool("a")], "tool_choice": {"type": "allowed_tools"}}, "tool_choice.tools"),
        ({"seed": True}, "seed"),
        ({"max_tokens": -2}, "max_tokens"),
        ({"stop_token_ids": [300]}, "stop_token_ids"),
        ({"tools": [tool("a", {"type": "array"})]}, "tools[0].function.parameters"),
        ({"chat_template_kwargs": {"messages": []}}, "chat_template_kwargs.messages"),
        ({"continue_final_message": True}, "continue_final_message"),
        (
            {"continue_final_message": True, "add_generation_prompt": True},
            "add_generation_prompt",
        ),
        ({"structured_outputs": {}}, "structured_outputs"),
        ({"structured_outputs": {"regex": "a", "json": {}}}, "structured_outputs"),
        ({"structured_outputs": {"regex": "a"}, "guided_regex": "b"}, "structured_outputs.regex"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(values: dict[str, Any], param: str) -> None:
    with pytest.raises(OpenAIError) as caught:
        chat(**values)
    assert (caught.value.status, caught.value.param) == (400, param)


def test_stop_is_one_string_or_a_list() -> None:
    assert chat(stop="a").options.stops == ("a",)
    assert chat(stop=["a", "b"]).options.stops == ("a", "b")


def test_stops_may_come_by_both_of_their_names() -> None:
    assert chat(stop=["a"], stopping_strings=["a"]).options.stops == ("a",)
    assert chat(stop=[], stopping_strings=["b"]).options.stops == ("b",)
    with pytest.raises(InvalidParameter, match="stopping_strings"):
        chat(stop=["a"], stopping_strings=3)


@pytest.mark.parametrize("name", ["max_new_tokens", "n_predict", "num_predict"])
def test_the_longest_reply_is_known_by_the_names_of_several_clients(name: str) -> None:
    assert chat(**{name: 7}).options.max_tokens == 7


def test_logprobs_are_asked_for_with_or_without_the_most_likely() -> None:
    assert chat().logprobs is None
    assert chat(logprobs=True).logprobs == 0
    assert chat(logprobs=True, top_logprobs=4).logprobs == 4


def test_tools_that_may_not_be_called_are_left_out() -> None:
    assert chat(tools=[tool("a")], tool_choice="none").tools is None
    assert chat(tools=[]).tools is None


def test_a_form_is_asked_for_with_or_without_a_schema() -> None:
    schema = {"type": "object"}
    assert chat(response_format={"type": "text"}).form is None
    plain = chat(response_format={"type": "json_object"}).form
    shaped = chat(
        response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    ).form
    assert plain is not None
    assert plain.form == JsonObject()
    assert shaped is not None
    assert shaped.form == JsonSchema.of(schema)


@pytest.mark.parametrize(
    ("field", "value", "form"),
    [
        ("guided_json", {"type": "object"}, JsonSchema('{"type": "object"}')),
        ("guided_json", '{"type": "null"}', JsonSchema('{"type": "null"}')),
        ("guided_regex", "[a-z]+", Regex("[a-z]+")),
        ("guided_choice", ["yes", "no"], Choice(("yes", "no"))),
        ("guided_grammar", 'start: "a"', Lark('start: "a"')),
        ("guided_grammar", 'root ::= "a"', Gbnf('root ::= "a"')),
    ],
)
def test_a_form_may_be_asked_for_as_vllm_has_it(field: str, value: Any, form: Form) -> None:
    asked = chat(**{field: value}).form
    assert asked is not None
    assert (asked.form, asked.param) == (form, field)


def test_two_forms_at_once_and_fields_of_other_types_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="guided_regex must be left out beside"):
        chat(response_format={"type": "json_object"}, guided_regex="a")
    for wrong in ({"guided_regex": 3}, {"guided_choice": "a"}, {"guided_choice": [3]}):
        with pytest.raises(InvalidParameter):
            chat(**wrong)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (None, ""),
        ({"type": "content", "content": "a b"}, "a b"),
        ({"type": "content", "content": ""}, ""),
        ({"type": "content", "content": [{"type": "text", "text": "a"}]}, "a"),
        ({"type": "content", "content": [{"type": "text", "text": t} for t in "ab"]}, "a\nb"),
    ],
)
def test_a_prediction_is_a_text_or_parts_of_one(given: Any, text: str) -> None:
    assert chat(prediction=given).prediction == text


@pytest.mark.parametrize(
    ("given", "param"),
    [
        ("a", "prediction"),
        ([], "prediction"),
        ({"content": "a"}, "prediction.type"),
        ({"type": "text", "content": "a"}, "prediction.type"),
        ({"type": "content"}, "prediction.content"),
        ({"type": "content", "content": 3}, "prediction.content"),
        ({"type": "content", "content": [{"type": "image_url"}]}, "prediction.content[0]"),
    ],
)
def test_a_prediction_of_another_shape_is_refused_by_name(given: Any, param: str) -> None:
    with pytest.raises(OpenAIError) as caught:
        chat(prediction=given)
    assert caught.value.param == param
