"""Generations over all four endpoints, against Hugging Face on the same checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tests import oracle
from tests.server_process import RunningServer, running_server
from tests.split_server.http.kobold.client import (
    BINARY_SOCKET,
    GENERATE,
    JSON_SOCKET,
    ask,
    ask_binary,
    decoded,
    events,
    ids_of,
    post,
    socket,
)
from tests.split_server.sessions.test_framed_attention import wanted as eager_rows

IDS = list(range(11, 40))
COUNT = 12
GREEDY: dict[str, Any] = {"input_ids": IDS, "temperature": 0, "ignore_eos": True}


@pytest.fixture(scope="module")
def server(family_path: Path) -> Iterator[RunningServer]:
    with running_server(family_path) as server:
        yield server


@cache
def _greedy(path: Path) -> tuple[int, ...]:
    ids = list(IDS)
    for _ in range(COUNT):
        ids.append(int(oracle.logits(path, ids)[-1].argmax()))
    return tuple(ids[len(IDS) :])


def greedy(path: Path) -> list[int]:
    """As ``generate`` continues without an end."""
    return list(_greedy(path))


def text_of(path: Path, ids: list[int]) -> str:
    return str(Tokenizer.from_file(str(path / "tokenizer.json")).decode(ids))


def check_rows(path: Path, new: list[int], rows: list[NDArray[Any]]) -> None:
    assert len(rows) == len(new)
    for index, row in enumerate(rows):
        context = IDS + new[:index]
        assert row.shape[-1] == len(context)
        np.testing.assert_allclose(row, eager_rows(path, context), atol=1e-5)
        np.testing.assert_allclose(row.sum(-1), 1.0, atol=1e-5)


def test_a_whole_reply_is_what_generate_makes(server: RunningServer, family_path: Path) -> None:
    answer = post(server, GENERATE, max_new_tokens=COUNT, return_attention=True, **GREEDY)
    new = [token["token_id"] for token in answer["generated_tokens"]]
    assert new == greedy(family_path)
    assert (answer["finish_reason"], answer["total_tokens"]) == ("length", COUNT)
    joined = "".join(token["text"] for token in answer["generated_tokens"])
    assert joined == answer["generated_text"] == text_of(family_path, new)
    assert answer["results"][0]["text"] == joined
    assert [entry["token_id"] for entry in answer["attention_data"]] == new
    check_rows(
        family_path, new, [decoded(entry["attention"]) for entry in answer["attention_data"]]
    )


def test_the_json_socket_tells_tokens_likelihoods_and_rows(
    server: RunningServer, family_path: Path
) -> None:
    with socket(server, JSON_SOCKET) as connection:
        told = ask(
            connection, request_id="one", max_new_tokens=COUNT, return_attention=True, **GREEDY
        )
        plain = ask(connection, request_id="two", max_new_tokens=COUNT, logprobs=False, **GREEDY)
    new = ids_of(told)
    assert new == ids_of(plain) == greedy(family_path)
    assert {event["request_id"] for event in told} == {"one"}
    assert "".join(event["token"]["text"] for event in told[:-1]) == text_of(family_path, new)
    done = told[-1]
    assert (done["type"], done["finish_reason"], done["total_tokens"]) == ("done", "length", COUNT)
    assert done["generation_time_ms"] >= 0
    check_rows(family_path, new, [decoded(event["attention"]) for event in told[:-1]])
    check_logprobs(family_path, new, [event["token"] for event in told[:-1]], 5)
    assert not any("attention" in event or "logprob" in event["token"] for event in plain[:-1])


def check_logprobs(path: Path, new: list[int], tokens: list[dict[str, Any]], count: int) -> None:
    for index, token in enumerate(tokens):
        logits = oracle.logits(path, IDS + new[:index])[-1].to(torch.float64)
        exact = torch.log_softmax(logits, -1)
        assert token["logprob"] == pytest.approx(float(exact[token["token_id"]]), abs=1e-4)
        best = torch.topk(exact, count)
        top = token["top_logprobs"]
        assert [entry["token_id"] for entry in top] == best.indices.tolist()
        told = [entry["logprob"] for entry in top]
        np.testing.assert_allclose(told, best.values.numpy(), atol=1e-4)
        assert all(isinstance(entry["text"], str) for entry in top)


def test_the_binary_socket_alternates_small_texts_and_raw_rows(
    server: RunningServer, family_path: Path
) -> None:
    with socket(server, BINARY_SOCKET) as connection:
        told, frames = ask_binary(connection, max_length=COUNT, **GREEDY)
        again, none = ask_binary(connection, max_length=COUNT, output_attentions=False, **GREEDY)
    new = ids_of(told)
    assert new == ids_of(again) == greedy(family_path)
    assert none == []
    assert all(set(event) == {"type", "token_id", "text"} for event in told[:-1])
    info = server.parts.steps.info
    shape = (info.num_layers, info.num_heads, -1)
    check_rows(family_path, new, [np.frombuffer(frame, "<f4").reshape(shape) for frame in frames])
    assert told[-1]["total_tokens"] == COUNT


def test_server_sent_events_bring_rows_on_request_only(
    server: RunningServer, family_path: Path
) -> None:
    plain = events(server, max_length=COUNT, **GREEDY)
    told = events(server, max_length=COUNT, output_attentions=True, **GREEDY)
    new = ids_of(told)
    assert new == ids_of(plain) == greedy(family_path)
    assert not any("attention" in event for event in plain)
    assert [event["token"]["token_id"] for event in told[:-1]] == new
    check_rows(family_path, new, [decoded(event["attention"]) for event in told[:-1]])
    assert told[-1]["type"] == "done"


def test_the_end_token_ends_the_reply_and_is_not_sent(
    server: RunningServer, family_path: Path
) -> None:
    new = greedy(family_path)
    stop = next(token for token in new[3:] if token not in new[:3])
    cut = new[: new.index(stop)]
    fields = GREEDY | {"stop_tokens": [stop], "max_length": COUNT}
    answer = post(server, GENERATE, **fields)
    assert [token["token_id"] for token in answer["generated_tokens"]] == cut
    assert answer["finish_reason"] == "stop_token"
    assert answer["generated_text"] == text_of(family_path, cut)
    assert ids_of(events(server, **fields)) == cut


def test_a_stop_string_ends_the_text_exactly(server: RunningServer, family_path: Path) -> None:
    whole = text_of(family_path, greedy(family_path))
    stop = whole[len(whole) // 2 :][:2]
    wanted = whole[: whole.index(stop)]
    told = events(server, max_length=COUNT, stop_sequence=[stop], **GREEDY)
    assert "".join(event["text"] for event in told[:-1]) == wanted
    assert told[-1]["finish_reason"] == "stop_sequence"
    answer = post(server, GENERATE, max_length=COUNT, stop_sequence=[stop, "never"], **GREEDY)
    assert answer["results"][0]["text"] == wanted


def test_banned_tokens_never_appear(server: RunningServer, family_path: Path) -> None:
    first = greedy(family_path)
    banned = sorted(set(first))
    told = events(server, max_length=COUNT, banned_tokens=banned, **GREEDY)
    assert not set(ids_of(told)) & set(banned)
    logits = oracle.logits(family_path, IDS)[-1].clone()
    logits[banned] = -torch.inf
    assert ids_of(told)[0] == int(logits.argmax())
    hot = GREEDY | {"temperature": 5, "max_length": 60, "banned_tokens": banned}
    assert not set(ids_of(events(server, **hot))) & set(banned)


def test_a_seed_repeats_a_reply_and_samples_count_up_from_it(server: RunningServer) -> None:
    fields = GREEDY | {"temperature": 1.5, "max_length": COUNT}
    several = post(server, GENERATE, sampler_seed=41, num_samples=3, **fields)
    alone = [post(server, GENERATE, sampler_seed=41 + k, **fields) for k in range(3)]
    texts = [result["text"] for result in several["results"]]
    assert texts == [one["generated_text"] for one in alone]
    assert len(set(texts)) > 1
    assert [sample["generated_text"] for sample in several["samples"]] == texts
    rolled = {post(server, GENERATE, sampler_seed=-1, **fields)["generated_text"] for _ in range(3)}
    assert len(rolled) > 1


def test_samples_of_a_stream_are_told_apart_and_done_comes_once(server: RunningServer) -> None:
    fields = GREEDY | {"temperature": 1.5, "seed": 5, "max_length": 5, "num_samples": 2}
    with socket(server, BINARY_SOCKET) as connection:
        told, frames = ask_binary(connection, **fields)
    assert [event["type"] for event in told].count("sample_done") == 2
    assert told[-1]["total_tokens"] == len(frames) == 10
    whole = post(server, GENERATE, **fields)
    for sample, body in enumerate(whole["samples"]):
        own = [e for e in told if e["type"] == "token" and e["sample"] == sample]
        assert ids_of(own) == [token["token_id"] for token in body["generated_tokens"]]


@pytest.mark.parametrize(
    ("fields", "weights"),
    [
        ({"attention_dtype": "float16"}, lambda layers, heads, n: 2 * layers * heads * n),
        ({"attention_format": "aggregated"}, lambda layers, heads, n: 4 * n),
        (
            {"attention_format": "sparse", "attention_top_k": 3},
            lambda layers, heads, n: 4 * 3 + 4 * 3 * layers,
        ),
        ({"attention_format": "viz"}, lambda layers, heads, n: 4 * (3 * layers + 1)),
    ],
    ids=["half", "aggregated", "sparse", "viz"],
)
def test_every_form_of_attention_comes_with_every_token_of_the_binary_socket(
    server: RunningServer, family_path: Path, fields: dict[str, Any], weights: Any
) -> None:
    with socket(server, BINARY_SOCKET) as connection:
        told, frames = ask_binary(connection, max_length=COUNT, **GREEDY | fields)
    assert ids_of(told) == greedy(family_path)
    info = server.parts.steps.info
    sizes = [weights(info.num_layers, info.num_heads, len(IDS) + k) for k in range(COUNT)]
    assert [len(frame) for frame in frames] == sizes


def test_reduced_rows_are_those_of_eager_attention(
    server: RunningServer, family_path: Path
) -> None:
    rows = eager_rows(family_path, IDS).astype(np.float64)
    one = GREEDY | {"max_length": 1, "return_attention": True}

    def first(**fields: Any) -> dict[str, Any]:
        answer = post(server, GENERATE, **one | fields)
        attention: dict[str, Any] = answer["attention_data"][0]["attention"]
        return attention

    for mode in ("mean", "max"):
        told = first(attention_format="aggregated", aggregation_mode=mode)["data"]
        np.testing.assert_allclose(told, getattr(rows, mode)((0, 1)), atol=1e-5)
    for entry in first(attention_format="sparse", attention_top_k=4)["data"]:
        wanted = rows[:, :, entry["position"]].mean(1)
        np.testing.assert_allclose(entry["layers"], wanted, atol=1e-5)
    told = first(attention_format="viz")
    np.testing.assert_allclose(told["max_by_layer"], rows.max((1, 2)), atol=1e-5)


def test_sentences_that_could_go_are_suggested_before_the_end(
    server: RunningServer, family_path: Path
) -> None:
    wanted = dict(GREEDY, max_new_tokens=3, pruning_suggestion=True)
    with socket(server, JSON_SOCKET) as connection:
        told = ask(connection, request_id="one", **wanted)
        both = ask(connection, return_attention=True, attention_format="sparse", **wanted)
        plain = ask(connection, **{**wanted, "pruning_suggestion": False})
    with socket(server, BINARY_SOCKET) as connection:
        flat, frames = ask_binary(connection, **{**wanted, "return_attention": False})
    for events_ in (told, both, flat, events(server, **wanted)):
        assert [each["type"] for each in events_] == [*["token"] * 3, "pruning_suggestion", "done"]
        assert isinstance(events_[3]["prunable_sentences"], list)
        assert ids_of(events_) == greedy(family_path)[:3]
    assert told[3]["request_id"] == "one"
    assert not any("attention" in each for each in told)
    assert not frames
    assert "pruning_suggestion" not in [each["type"] for each in plain]
