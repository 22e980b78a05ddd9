"""What the operator allows a request of the compatible APIs: seconds, and tokens of a reply."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import COMPLETIONS, chat, completion, events, post

CEILING = 5


@pytest.fixture(scope="module")
def hurried() -> Iterator[RunningServer]:
    """No reply of this length is made in that time."""
    with running_server(request_seconds=0.05) as server:
        yield server


@pytest.fixture(scope="module")
def sparing() -> Iterator[RunningServer]:
    with running_server(max_tokens_ceiling=CEILING) as server:
        yield server


def test_a_request_that_takes_too_long_is_told_so(hurried: RunningServer) -> None:
    answer = post(hurried, COMPLETIONS, prompt="Once " * 20, max_tokens=400, n=8)
    assert answer.status_code == 504
    assert answer.json()["error"]["code"] == "time_limit"
    assert answer.json()["error"]["type"] == "server_error"


def test_a_stream_that_takes_too_long_ends_with_the_error(hurried: RunningServer) -> None:
    answer = post(hurried, COMPLETIONS, prompt="Once", max_tokens=400, n=8, stream=True)
    if answer.status_code == 504:
        assert answer.json()["error"]["code"] == "time_limit"
        return
    *_, last = events(answer.text)
    assert last["error"]["code"] == "time_limit"


def test_kobold_clients_are_told_in_their_own_form(hurried: RunningServer) -> None:
    body = {"prompt": "Once", "max_length": 400, "num_samples": 8, "ignore_eos": True}
    answer = post(hurried, "/api/v1/generate", **body)
    assert answer.status_code == 504
    assert answer.json()["error_code"] == "TIME_LIMIT"
    streamed = post(hurried, "/api/extra/generate/stream", **body)
    told = streamed.text.split("data: ")[-1] if streamed.status_code == 200 else streamed.text
    assert json.loads(told)["error_code"] == "TIME_LIMIT"


def test_the_server_goes_on_behind_it(hurried: RunningServer) -> None:
    with hurried.client() as client:
        assert client.get("/v1/stats").json()["generations"]["waiting"] == 0


def test_no_reply_is_longer_than_the_ceiling(sparing: RunningServer) -> None:
    answer = completion(sparing, prompt="1, 2, 3,", max_tokens=100)
    assert answer["usage"]["completion_tokens"] <= CEILING
    assert answer["choices"][0]["finish_reason"] == "length"
    told = chat(sparing, max_tokens=100)
    assert told["usage"]["completion_tokens"] <= CEILING
    body = {"prompt": "1, 2, 3,", "max_length": 100, "ignore_eos": True}
    result = post(sparing, "/api/v1/generate", **body).json()
    assert (result["total_tokens"], result["finish_reason"]) == (CEILING, "length")
    assert completion(sparing, prompt="Once", max_tokens=2)["usage"]["completion_tokens"] <= 2
