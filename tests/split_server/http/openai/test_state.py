"""``/v1/stats`` and ``/v1/warm``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import HELLO, chat, completion, post, refused

LONG = [{"role": "system", "content": "Be brief. " * 40}]


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


def cached(answer: dict[str, Any]) -> int:
    """Tokens of the prompt that were cached."""
    count: int = answer["usage"]["prompt_tokens_details"]["cached_tokens"]
    return count


def stats(server: RunningServer) -> dict[str, Any]:
    with server.client() as client:
        found: dict[str, Any] = client.get("/v1/stats").json()
    return found


def test_a_chat_that_begins_with_what_was_warmed_computes_only_the_rest(
    server: RunningServer,
) -> None:
    warmed = post(server, "/v1/warm", messages=LONG).json()
    assert warmed["object"] == "warm"
    assert warmed["cached_tokens"] == warmed["computed_tokens"] > 40
    answer = chat(server, messages=LONG + HELLO, max_tokens=2)
    assert warmed["cached_tokens"] - 2 <= cached(answer) <= warmed["cached_tokens"]


def test_the_same_greedy_reply_comes_with_and_without_warming(server: RunningServer) -> None:
    asked: dict[str, Any] = {"messages": LONG + HELLO, "temperature": 0, "max_tokens": 16}
    with running_server() as cold:
        expected = chat(cold, **asked)
    assert cached(expected) == 0
    post(server, "/v1/warm", messages=LONG)
    answer = chat(server, **asked)
    assert cached(answer) > 0
    assert answer["choices"] == expected["choices"]


def test_a_text_is_warmed_as_a_completion_reads_it(server: RunningServer) -> None:
    text = "What is split inference? " * 8
    first = post(server, "/v1/warm", prompt=text).json()
    again = post(server, "/v1/warm", prompt=text).json()
    assert first["computed_tokens"] == first["cached_tokens"]
    assert again["computed_tokens"] == 1
    assert cached(completion(server, prompt=text + " It is", max_tokens=1)) >= 40


@pytest.mark.parametrize(
    "values",
    [{}, {"prompt": "a", "messages": HELLO}, {"prompt": ["a", "b"]}, {"prompt": ""}, {"prompt": 3}],
    ids=str,
)
def test_what_cannot_be_warmed_is_refused(server: RunningServer, values: dict[str, Any]) -> None:
    assert refused(post(server, "/v1/warm", **values), 400)["param"] == "prompt"


def test_counts_follow_what_was_generated(server: RunningServer) -> None:
    assert stats(server)["generations"] == {"running": 0, "waiting": 0, "ended": 0}
    usage = [completion(server, prompt="Hello", max_tokens=4)["usage"] for _ in range(2)]
    found = stats(server)
    assert found["model"] == "gatelink-demo"
    assert found["generations"] == {"running": 0, "waiting": 0, "ended": 2}
    assert found["tokens"]["prompt"] == sum(u["prompt_tokens"] for u in usage)
    assert found["tokens"]["completion"] == sum(u["completion_tokens"] for u in usage)
    assert found["sessions"]["idle"] >= 1


def test_choices_after_the_first_find_the_prompt_cached(server: RunningServer) -> None:
    prompt = "What is split inference? " * 8
    answer = completion(server, prompt=prompt, n=3, max_tokens=2)
    assert cached(answer) == 0
    found = stats(server)["tokens"]
    assert found["cached"] == 2 * (answer["usage"]["prompt_tokens"] - 1)


def test_it_tells_where_positions_came_from_and_what_is_kept(server: RunningServer) -> None:
    before = stats(server)["cache"]
    assert (before["reuse"], before["hit_share"], before["bytes"]["memory"]) == ("exact", 0, 0)
    text = "What is split inference? " * 12
    asked = {"prompt": text, "max_tokens": 1}
    length = completion(server, **asked)["usage"]["prompt_tokens"]
    first = stats(server)["cache"]
    assert first["positions"]["computed"] == before["positions"]["computed"] + length
    server.lose_sessions()
    found = cached(completion(server, **asked))
    after = stats(server)["cache"]
    positions = after["positions"]
    assert positions["pool_sent"] == found > 0
    assert positions["computed"] == first["positions"]["computed"] + length - found
    assert after["hit_share"] == round(found / sum(positions.values()), 4)
    assert after["bytes"]["memory"] > 0
    assert after["bytes"]["disk"] is None


def test_it_names_the_kernels(server: RunningServer) -> None:
    kernels = stats(server)["kernels"]
    assert kernels["attention"] == "torch sdpa"
    assert kernels["linears"].startswith(("plain", "packed"))


def test_without_reuse_only_what_was_computed_is_counted() -> None:
    with running_server(kv_reuse="off") as off:
        completion(off, prompt="Hello", max_tokens=2)
        found = stats(off)["cache"]
    assert (found["reuse"], found["hit_share"]) == ("off", 0)
    assert found["positions"]["computed"] > 0


def test_a_prediction_saves_passes_and_changes_nothing(server: RunningServer) -> None:
    asked: dict[str, Any] = {"temperature": 0, "max_tokens": 48}
    plain = chat(server, **asked)
    text = plain["choices"][0]["message"]["content"]
    before = stats(server)["drafts"]
    predicted = chat(server, prediction={"type": "content", "content": text}, **asked)
    assert predicted["choices"] == plain["choices"]
    told = predicted["usage"]["completion_tokens_details"]
    after = stats(server)["drafts"]
    accepted = after["accepted"] - before["accepted"]
    assert 0 < told["accepted_prediction_tokens"] <= accepted
    # A reply may end within a draft.
    assert accepted - 1 <= after["passes_saved"] - before["passes_saved"] <= accepted
    assert told["rejected_prediction_tokens"] >= 0


def test_a_prediction_beyond_the_context_is_refused_by_name(server: RunningServer) -> None:
    long = {"type": "content", "content": "split inference " * 4096}
    answer = post(server, "/v1/chat/completions", messages=HELLO, prediction=long)
    assert refused(answer, 400)["param"] == "prediction.content"


def test_a_form_saves_the_passes_of_what_it_forces(server: RunningServer) -> None:
    names = ["the_first_of_the_names", "and_the_other_of_them"]
    schema = {
        "type": "object",
        "properties": {name: {"type": "integer"} for name in names},
        "required": names,
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    answer = chat(server, response_format=form, max_tokens=120, temperature=0)
    told = stats(server)["drafts"]
    assert told["forced"] > 0.4 * answer["usage"]["completion_tokens"]
    assert told["passes_saved"] >= told["forced"] * 0.8
