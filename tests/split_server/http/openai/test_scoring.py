"""Prompts scored by ``echo`` with ``logprobs``, against Hugging Face on the same checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch

from tests import oracle
from tests.patience import until
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import (
    COMPLETIONS,
    completion,
    post,
    refused,
    stream,
)

# Longer than the states that are there at once.
IDS = [11 + at * 7 % 280 for at in range(300)]


@pytest.fixture(scope="module", params=["qwen2", "gemma2"])
def family_path(request: pytest.FixtureRequest, tiny_family: Callable[[str], Path]) -> Path:
    """Of a plain head, and of one whose logits are capped."""
    return tiny_family(request.param)


@pytest.fixture(scope="module")
def server(family_path: Path) -> Iterator[RunningServer]:
    with running_server(family_path, dtype="float32") as running:
        yield running


def exact(path: Path, ids: list[int]) -> torch.Tensor:
    """float64 [n, vocab]."""
    return torch.log_softmax(oracle.logits(path, ids).to(torch.float64), -1)


def scores_of(choice: dict[str, Any]) -> dict[str, Any]:
    scores: dict[str, Any] = choice["logprobs"]
    lengths = {len(values) for values in scores.values()}
    assert len(lengths) == 1
    return scores


def asked(ids: list[int], **values: Any) -> dict[str, Any]:
    return {"prompt": ids, "echo": True, "logprobs": 1, "temperature": 0, **values}


@pytest.mark.parametrize("count", [0, 1])
def test_every_token_of_a_prompt_has_its_score(
    server: RunningServer, family_path: Path, count: int
) -> None:
    answer = completion(server, **asked(IDS, max_tokens=count))
    (choice,) = answer["choices"]
    scores, wanted = scores_of(choice), exact(family_path, IDS)
    told = scores["token_logprobs"]
    assert (told[0], scores["top_logprobs"][0]) == (None, None)
    assert len(told) == len(IDS) + count
    for at in range(1, len(IDS)):
        assert told[at] == pytest.approx(float(wanted[at - 1, IDS[at]]), abs=1e-3)
        assert max(scores["top_logprobs"][at].values()) == pytest.approx(
            float(wanted[at - 1].max()), abs=1e-3
        )
    if count:
        assert told[-1] == pytest.approx(float(wanted[-1].max()), abs=1e-3)
    assert choice["finish_reason"] == "length"
    usage = answer["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == (len(IDS), count)
    assert usage["prompt_tokens_details"]["cached_tokens"] == 0


def test_the_texts_and_offsets_are_those_of_the_whole_text(server: RunningServer) -> None:
    (choice,) = completion(server, **asked(IDS[:40], max_tokens=6))["choices"]
    scores = scores_of(choice)
    for text, offset in zip(scores["tokens"], scores["text_offset"], strict=True):
        if "\ufffd" not in text:
            assert choice["text"][offset:].startswith(text) or not text.strip()


def test_several_prompts_and_choices_are_scored_in_turn(
    server: RunningServer, family_path: Path
) -> None:
    prompts = [IDS[:9], IDS[20:33]]
    answer = completion(server, **asked([], prompt=prompts, max_tokens=1, n=2, logprobs=0))
    assert len(answer["choices"]) == 4
    for index, choice in enumerate(answer["choices"]):
        ids = prompts[index // 2]
        wanted = exact(family_path, ids)
        told = scores_of(choice)["token_logprobs"]
        assert told[1:-1] == pytest.approx(
            [float(wanted[at - 1, ids[at]]) for at in range(1, len(ids))], abs=1e-3
        )


@pytest.mark.parametrize("count", [0, 3])
def test_a_stream_tells_the_same(server: RunningServer, count: int) -> None:
    whole = completion(server, **asked(IDS[:20], max_tokens=count))["choices"][0]
    parts = [
        part["choices"][0]
        for part in stream(server, COMPLETIONS, **asked(IDS[:20], max_tokens=count))
    ]
    assert "".join(part["text"] for part in parts) == whole["text"]
    told = [
        value for part in parts if part["logprobs"] for value in part["logprobs"]["token_logprobs"]
    ]
    assert told[1:] == pytest.approx(whole["logprobs"]["token_logprobs"][1:], abs=1e-4)
    assert parts[-1]["finish_reason"] == "length"


def test_the_token_that_ends_a_reply_is_told_with_a_scored_prompt(
    server: RunningServer, family_path: Path
) -> None:
    first = int(exact(family_path, IDS[:20])[-1].argmax())
    answer = completion(server, **asked(IDS[:20], max_tokens=1, stop_token_ids=[first]))
    assert len(scores_of(answer["choices"][0])["tokens"]) == 21


def test_only_an_echo_may_have_no_reply(server: RunningServer) -> None:
    assert (
        refused(post(server, COMPLETIONS, prompt=IDS, max_tokens=0), 400)["param"] == "max_tokens"
    )
    (choice,) = completion(server, prompt="ab", echo=True, max_tokens=0)["choices"]
    assert (choice["text"], choice["logprobs"]) == ("ab", None)


def test_more_scores_than_an_answer_holds_are_refused(server: RunningServer) -> None:
    answer = post(server, COMPLETIONS, **asked([], prompt=[IDS] * 32, logprobs=20, max_tokens=0))
    assert answer.status_code == 200
    longer = post(
        server, COMPLETIONS, **asked([], prompt=[IDS + IDS[:190]] * 32, logprobs=20, max_tokens=0)
    )
    assert refused(longer, 400)["param"] == "prompt"


def test_nothing_runs_on_after_its_client_has_left(server: RunningServer) -> None:
    assert server.parts.compat is not None
    places = server.parts.compat.generator.places
    request = asked([], prompt=[IDS] * 32, max_tokens=0)
    with server.client() as client, pytest.raises(httpx.TimeoutException):
        client.post(COMPLETIONS, json=request, timeout=0.05)
    until(lambda: not places.running)
