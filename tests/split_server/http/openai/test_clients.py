"""The official clients, unchanged, in a conversation with the server.

They take seconds to import, which no process does that only collects these tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pydantic
import pytest

from split_server.checkpoint.folder import EMBEDDED
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import HELLO
from tests.split_server.http.taught import (
    ANSWER,
    ARGUMENTS,
    QUESTION,
    RESULT,
    TOOL,
    taught_checkpoint,
)

if TYPE_CHECKING:
    import openai
    from langchain_openai import ChatOpenAI

TOKEN = "a-token-of-the-test"


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(EMBEDDED, token=TOKEN) as running:
        yield running


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    path = taught_checkpoint(tmp_path_factory.mktemp("taught") / "taught")
    with running_server(path, token=TOKEN, dtype="float32") as running:
        yield running


def client_of(server: RunningServer, token: str = TOKEN) -> openai.OpenAI:
    import openai

    http = openai.DefaultHttpxClient(trust_env=False)
    return openai.OpenAI(
        base_url=f"{server.url}/v1", api_key=token, http_client=http, max_retries=0
    )


def chain_of(server: RunningServer, **options: Any) -> ChatOpenAI:
    from langchain_openai import ChatOpenAI

    options = {"temperature": 0, "max_retries": 0, "model": "gatelink"} | options
    return ChatOpenAI(base_url=f"{server.url}/v1", api_key=TOKEN, **options)


class Transfer(pydantic.BaseModel):
    """What a reply must look like."""

    account: str
    cents: int


def test_openai_lists_the_models_and_chats(server: RunningServer) -> None:
    with client_of(server) as client:
        (model,) = client.models.list().data
        assert client.models.retrieve(model.id).id == model.id
        messages: list[Any] = list(HELLO)
        for question in ("Is it private?", "Thank you."):
            answer = client.chat.completions.create(
                model=model.id, messages=messages, temperature=0, max_tokens=32
            )
            said = answer.choices[0].message
            assert said.content
            assert answer.usage is not None
            assert answer.usage.prompt_tokens > 0
            messages += [said, {"role": "user", "content": question}]
        assert len(messages) == 5


def test_openai_streams_what_it_is_told_at_once(server: RunningServer) -> None:
    asked: dict[str, Any] = {"model": "gatelink", "messages": HELLO, "temperature": 0}
    with client_of(server) as client:
        whole = client.chat.completions.create(**asked).choices[0].message.content
        usage, text = None, ""
        stream = client.chat.completions.create(
            **asked, stream=True, stream_options={"include_usage": True}
        )
        for chunk in stream:
            usage = chunk.usage or usage
            text += "".join(choice.delta.content or "" for choice in chunk.choices)
        with client.chat.completions.stream(**asked) as helper:
            final = helper.get_final_completion()
    assert text == whole == final.choices[0].message.content
    assert usage is not None
    assert usage.completion_tokens > 3


def test_openai_completes_texts_with_logprobs(server: RunningServer) -> None:
    with client_of(server) as client:
        answer = client.completions.create(
            model="gatelink", prompt=["What is", "A"], max_tokens=5, logprobs=2, temperature=0
        )
        stream = client.completions.create(
            model="gatelink", prompt="What is", max_tokens=5, temperature=0, stream=True
        )
        assert "".join(chunk.choices[0].text for chunk in stream) == answer.choices[0].text
    assert [choice.index for choice in answer.choices] == [0, 1]
    scores = answer.choices[0].logprobs
    assert scores is not None
    assert scores.tokens is not None
    assert "".join(scores.tokens) == answer.choices[0].text


def test_openai_parses_replies_of_a_schema(server: RunningServer) -> None:
    with client_of(server) as client:
        answer = client.chat.completions.parse(
            model="gatelink", messages=HELLO, response_format=Transfer, max_tokens=64
        )
    assert isinstance(answer.choices[0].message.parsed, Transfer)


def test_openai_raises_its_own_errors(server: RunningServer) -> None:
    import openai

    with client_of(server) as client:
        with pytest.raises(openai.NotFoundError, match="not served here") as missing:
            client.chat.completions.create(model="gpt-4o", messages=HELLO)
        with pytest.raises(openai.BadRequestError, match="top_logprobs") as bad:
            client.chat.completions.create(
                model="gatelink", messages=HELLO, logprobs=True, top_logprobs=99
            )
        with pytest.raises(openai.APIStatusError) as large:
            client.completions.create(model="gatelink", prompt=[300] * 5000)
    with client_of(server, "wrong") as client, pytest.raises(openai.AuthenticationError):
        client.models.list()
    assert missing.value.code == "model_not_found"
    assert bad.value.param == "top_logprobs"
    assert (large.value.status_code, large.value.code) == (413, "prompt_too_large")


@pytest.mark.parametrize("streamed", [False, True])
def test_openai_lets_the_model_call_a_tool_and_use_its_result(
    taught: RunningServer, streamed: bool
) -> None:
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    with client_of(taught) as client:
        asked: dict[str, Any] = {"model": "gatelink", "tools": [TOOL], "temperature": 0}
        if streamed:
            with client.chat.completions.stream(messages=messages, **asked) as stream:
                called = stream.get_final_completion().choices[0]
        else:
            called = client.chat.completions.create(messages=messages, **asked).choices[0]
        assert called.finish_reason == "tool_calls"
        assert not called.message.content
        assert called.message.tool_calls is not None
        (call,) = called.message.tool_calls
        assert call.id.startswith("call_")
        assert call.function.name == "balance"
        assert json.loads(call.function.arguments) == ARGUMENTS
        history = called.message.model_dump(exclude_none=True, exclude={"parsed"})
        result = {"role": "tool", "tool_call_id": call.id, "content": RESULT}
        answer = client.chat.completions.create(messages=[*messages, history, result], **asked)
    assert answer.choices[0].message.content == ANSWER
    assert answer.choices[0].finish_reason == "stop"


@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "balance"}}]
)
def test_openai_can_make_any_model_call_a_tool(server: RunningServer, choice: Any) -> None:
    with client_of(server) as client:
        answer = client.chat.completions.create(
            model="gatelink", messages=HELLO, tools=[TOOL], tool_choice=choice, max_tokens=64
        )
        none = client.chat.completions.create(
            model="gatelink", messages=HELLO, tools=[TOOL], tool_choice="none", max_tokens=8
        )
    assert answer.choices[0].finish_reason == "tool_calls"
    (call,) = answer.choices[0].message.tool_calls or []
    assert isinstance(json.loads(call.function.arguments)["account"], str)
    assert none.choices[0].message.tool_calls is None


def test_langchain_chats_and_streams(server: RunningServer) -> None:
    from langchain_core.messages import AIMessage, HumanMessage

    chain = chain_of(server, max_tokens=24)
    whole = chain.invoke([HumanMessage(HELLO[0]["content"])])
    pieces = [str(chunk.content) for chunk in chain.stream(HELLO[0]["content"])]
    assert isinstance(whole, AIMessage)
    assert whole.content
    assert "".join(pieces) == whole.content
    assert whole.usage_metadata is not None
    assert whole.usage_metadata["output_tokens"] <= 24
    assert whole.response_metadata["finish_reason"] in ("stop", "length")


@pytest.mark.parametrize("streamed", [False, True])
def test_langchain_lets_the_model_call_a_tool_and_use_its_result(
    taught: RunningServer, streamed: bool
) -> None:
    from langchain_core.messages import HumanMessage, ToolMessage

    chain = chain_of(taught).bind_tools([TOOL])
    messages: list[Any] = [HumanMessage(QUESTION)]
    if streamed:
        first, *rest = list(chain.stream(messages))
        called: Any = sum(rest, first)
    else:
        called = chain.invoke(messages)
    (call,) = called.tool_calls
    assert (call["name"], call["args"]) == ("balance", ARGUMENTS)
    messages += [called, ToolMessage(RESULT, tool_call_id=call["id"])]
    assert chain.invoke(messages).content == ANSWER


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_langchain_gets_structured_replies(server: RunningServer, method: Any) -> None:
    chain = chain_of(server, max_tokens=64).with_structured_output(Transfer, method=method)
    assert isinstance(chain.invoke(HELLO[0]["content"]), Transfer)


def test_langchain_completes_texts(server: RunningServer) -> None:
    from langchain_openai import OpenAI

    chain = OpenAI(base_url=f"{server.url}/v1", api_key=TOKEN, model="gatelink", max_tokens=8)
    assert chain.invoke("What is")
    assert chain.batch(["What is", "A bank"])
