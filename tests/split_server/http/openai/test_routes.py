"""OpenAI's API over a real server: models, chats, completions, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import (
    CHAT,
    COMPLETIONS,
    HELLO,
    chat,
    completion,
    events,
    post,
    refused,
    stream,
)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


def test_the_served_model_is_listed_and_found_by_every_name(server: RunningServer) -> None:
    with server.client() as client:
        listing = client.get("/v1/models").json()
        (model,) = listing["data"]
        found = [client.get(f"/v1/models/{name}").json() for name in (model["id"], "gatelink")]
        missing = client.get("/v1/models/maker/other")
    assert listing["object"] == "list"
    assert model["object"] == "model"
    assert model["context_length"] == 4096
    assert found == [model, model]
    assert refused(missing, 404)["code"] == "model_not_found"


def test_a_chat_is_answered_in_openais_shape(server: RunningServer) -> None:
    answer = chat(server, temperature=0, max_tokens=8)
    (choice,) = answer["choices"]
    assert answer["object"] == "chat.completion"
    assert answer["id"].startswith("chatcmpl-")
    assert answer["model"] == "gatelink-demo"
    assert choice["message"]["role"] == "assistant"
    assert choice["message"]["content"].startswith("Split inference")
    assert (choice["index"], choice["finish_reason"], choice["logprobs"]) == (0, "length", None)
    usage = answer["usage"]
    assert usage["completion_tokens"] == 8
    assert usage["total_tokens"] == usage["prompt_tokens"] + 8


def test_a_reply_that_ends_by_itself_says_so(server: RunningServer) -> None:
    (choice,) = chat(server, temperature=0)["choices"]
    assert choice["finish_reason"] == "stop"
    assert "<|im_end|>" not in choice["message"]["content"]


@pytest.mark.parametrize("path", [CHAT, COMPLETIONS])
def test_a_stream_tells_the_same_as_the_whole_answer(server: RunningServer, path: str) -> None:
    values: dict[str, Any] = {"model": "gatelink", "max_tokens": 24, "n": 2, "seed": 5}
    values |= {"messages": HELLO} if path == CHAT else {"prompt": "Split inference"}
    values |= {"logprobs": True, "top_logprobs": 2} if path == CHAT else {"logprobs": 2}
    whole = post(server, path, **values).json()
    chunks = stream(server, path, **values, stream_options={"include_usage": True})
    *rest, last = chunks
    assert all(chunk["usage"] is None for chunk in rest)
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"]
    for choice in whole["choices"]:
        own = [
            part for chunk in rest for part in chunk["choices"] if part["index"] == choice["index"]
        ]
        assert own[-1]["finish_reason"] == choice["finish_reason"]
        assert all(part["finish_reason"] is None for part in own[:-1])
        if path == CHAT:
            assert own[0]["delta"] == {"role": "assistant", "content": ""}
            text = "".join(part["delta"].get("content", "") for part in own)
            assert text == choice["message"]["content"]
            tokens = [t for p in own if p["logprobs"] for t in p["logprobs"]["content"]]
            assert [token["token"] for token in tokens] == [
                token["token"] for token in choice["logprobs"]["content"]
            ]
        else:
            assert "".join(part["text"] for part in own) == choice["text"]
            tokens = [t for p in own if p["logprobs"] for t in p["logprobs"]["tokens"]]
            assert tokens == choice["logprobs"]["tokens"]


def test_without_usage_asked_for_a_stream_does_not_mention_it(server: RunningServer) -> None:
    assert all("usage" not in chunk for chunk in stream(server, CHAT, messages=HELLO, max_tokens=3))


def test_choices_differ_and_follow_from_the_seed(server: RunningServer) -> None:
    asked: dict[str, Any] = {"temperature": 1.8, "n": 4, "max_tokens": 12, "prompt": "The"}
    first = [c["text"] for c in completion(server, seed=9, **asked)["choices"]]
    again = [c["text"] for c in completion(server, seed=9, **asked)["choices"]]
    alone = completion(server, seed=9, **(asked | {"n": 1}))["choices"][0]["text"]
    assert first == again
    assert len(set(first)) == 4
    assert alone == first[0]


def test_prompts_are_answered_in_order_whatever_their_form(server: RunningServer) -> None:
    texts = ["What is", "Hello", "A bank"]
    asked: dict[str, Any] = {"temperature": 0, "max_tokens": 6}
    alone = [completion(server, prompt=text, **asked)["choices"][0]["text"] for text in texts]
    ids = [server.parts.original._encode(text) for text in texts]
    for prompt in (texts, ids):
        answer = completion(server, prompt=prompt, **asked)
        assert [choice["text"] for choice in answer["choices"]] == alone
        assert [choice["index"] for choice in answer["choices"]] == [0, 1, 2]
        assert answer["usage"]["prompt_tokens"] == sum(map(len, ids))
    assert completion(server, prompt=ids[0], **asked)["choices"][0]["text"] == alone[0]


def test_the_prompt_is_echoed_before_the_reply(server: RunningServer) -> None:
    asked: dict[str, Any] = {"prompt": "What is", "temperature": 0, "max_tokens": 4}
    plain = completion(server, **asked)["choices"][0]["text"]
    assert completion(server, echo=True, **asked)["choices"][0]["text"] == "What is" + plain
    chunks = stream(server, COMPLETIONS, echo=True, **asked)
    assert "".join(c["choices"][0]["text"] for c in chunks) == "What is" + plain


@pytest.mark.parametrize("stop", [" divides", [" never there", " divides"]])
def test_the_text_ends_before_a_stop_string(server: RunningServer, stop: Any) -> None:
    (choice,) = chat(server, temperature=0, stop=stop)["choices"]
    assert choice["message"]["content"] == "Split inference"
    assert choice["finish_reason"] == "stop"


def test_a_banned_token_never_appears(server: RunningServer) -> None:
    token = server.parts.original._encode(" inference")[0]
    answer = chat(server, temperature=1, seed=1, max_tokens=64, logit_bias={str(token): -100})
    assert " inference" not in answer["choices"][0]["message"]["content"]


def test_both_limits_of_tokens_count(server: RunningServer) -> None:
    for name in ("max_tokens", "max_completion_tokens"):
        answer = chat(server, temperature=0, **{name: 3})
        assert answer["usage"]["completion_tokens"] == 3
        assert answer["choices"][0]["finish_reason"] == "length"


def test_a_text_without_a_limit_has_the_16_tokens_of_openais_api(server: RunningServer) -> None:
    answer = completion(server, prompt="What is", temperature=0)
    assert answer["usage"]["completion_tokens"] == 16
    assert answer["choices"][0]["finish_reason"] == "length"
    with server.client() as client:
        schemas = client.get("/openapi.json").json()["components"]["schemas"]
    limits = {name: schemas[name]["properties"] for name in ("ChatRequest", "CompletionRequest")}
    assert limits["CompletionRequest"]["max_tokens"]["default"] == 16
    assert limits["ChatRequest"]["max_tokens"]["default"] == 1024
    assert limits["ChatRequest"]["temperature"]["maximum"] == 2


def test_content_parts_of_text_are_read(server: RunningServer) -> None:
    parts = [{"type": "text", "text": HELLO[0]["content"]}]
    asked: dict[str, Any] = {"temperature": 0, "max_tokens": 8}
    in_parts = chat(server, messages=[{"role": "user", "content": parts}], **asked)
    assert in_parts["choices"] == chat(server, **asked)["choices"]


def test_the_context_bounds_a_reply_whose_limit_is_beyond_it(server: RunningServer) -> None:
    prompt = [300] * 4094
    answer = completion(server, prompt=prompt, max_tokens=4096, temperature=1, seed=1)
    assert answer["choices"][0]["finish_reason"] in ("length", "stop")
    assert answer["usage"]["completion_tokens"] <= 3


@pytest.mark.parametrize(
    ("path", "values", "param"),
    [
        (CHAT, {}, "messages"),
        (CHAT, {"messages": HELLO, "temperature": "hot"}, "temperature"),
        (CHAT, {"messages": HELLO, "temperature": 2.1}, "temperature"),
        (CHAT, {"messages": HELLO, "n": 9}, "n"),
        (CHAT, {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, None),
        (COMPLETIONS, {}, "prompt"),
        (COMPLETIONS, {"prompt": ""}, "prompt"),
        (COMPLETIONS, {"prompt": []}, "prompt"),
        (COMPLETIONS, {"prompt": [1, "a"]}, "prompt"),
        (COMPLETIONS, {"prompt": [[]]}, "prompt[0]"),
        (COMPLETIONS, {"prompt": [2048]}, "prompt"),
        (COMPLETIONS, {"prompt": [True]}, "prompt"),
        (COMPLETIONS, {"prompt": "a", "suffix": "b"}, "suffix"),
        (COMPLETIONS, {"prompt": "a", "best_of": 3}, "best_of"),
        (COMPLETIONS, {"prompt": ["a"] * 32, "n": 3}, "n"),
    ],
    ids=str,
)
@pytest.mark.parametrize("streamed", [True, False])
def test_what_is_wrong_is_a_400_that_names_it(
    server: RunningServer, path: str, values: dict[str, Any], param: str | None, streamed: bool
) -> None:
    error = refused(post(server, path, stream=streamed, **values), 400)
    assert error["type"] == "invalid_request_error"
    if param is not None:
        assert error["param"] == param


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b'{"n": NaN}'])
def test_a_body_that_is_no_json_object_is_a_400(server: RunningServer, body: bytes) -> None:
    with server.client() as client:
        assert refused(client.post(CHAT, content=body), 400)["code"] == "invalid_json"


def test_another_model_is_a_404(server: RunningServer) -> None:
    error = refused(post(server, CHAT, model="gpt-4o", messages=HELLO), 404)
    assert (error["code"], error["param"]) == ("model_not_found", "model")


@pytest.mark.parametrize("streamed", [True, False])
def test_a_prompt_beyond_the_context_is_a_413_with_a_size_that_fits(
    server: RunningServer, streamed: bool
) -> None:
    error = refused(post(server, COMPLETIONS, prompt=[300] * 5000, stream=streamed), 413)
    assert error["code"] == "prompt_too_large"
    assert (error["prompt_tokens"], error["suggested_tokens"]) == (5000, 4096)


@pytest.mark.parametrize("characters", [30_000, 480_000, 4_000_000])
def test_a_long_text_is_refused_by_its_tokens(server: RunningServer, characters: int) -> None:
    """Nobody counts on beyond the context, and nobody begins where no tokens could fit."""
    prompt = "Hello, you. " * (characters // 12)
    error = refused(post(server, COMPLETIONS, prompt=prompt), 413)
    assert error["code"] == "prompt_too_large"
    assert error["prompt_tokens"] > error["suggested_tokens"] == 4096
    assert "at least" in error["message"]


def test_a_body_beyond_its_limit_is_a_413(server: RunningServer) -> None:
    with server.client() as client:
        answer = client.post(CHAT, content=b" " * ((4 << 20) + 1))
    assert refused(answer, 413)["code"] == "request_too_large"


def test_text_that_utf8_cannot_carry_does_no_harm(server: RunningServer) -> None:
    body = b'{"prompt": "a\\ud800b", "echo": true, "max_tokens": 1, "model": "gatelink"}'
    with server.client() as client:
        answer = client.post(COMPLETIONS, content=body)
        refusal = client.post(COMPLETIONS, content=b'{"model": "\\ud800"}')
    assert answer.json()["choices"][0]["text"].startswith("a?b")
    assert refused(refusal, 404)["code"] == "model_not_found"


def test_a_stream_of_a_prompt_that_was_given_as_text_ends_as_events_do(
    server: RunningServer,
) -> None:
    answer = post(server, COMPLETIONS, prompt="Hello", max_tokens=2, stream=True)
    assert len(events(answer.text)) >= 2
    assert answer.headers["cache-control"] == "no-store"


def test_more_generations_than_sessions_wait_for_their_turn() -> None:
    values = {"prompt": [5, 6, 7], "max_tokens": 40, "temperature": 0}
    with running_server(max_sessions_per_principal=2) as running, ThreadPoolExecutor(8) as clients:
        answers = list(clients.map(lambda _: completion(running, **values), range(8)))
    assert len({answer["choices"][0]["text"] for answer in answers}) == 1
