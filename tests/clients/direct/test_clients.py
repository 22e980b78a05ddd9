"""Existing clients, unchanged and pinned, each in an environment of its own, against a real server.

They are downloaded, so that they run with ``GATELINK_CLIENTS=1`` alone; docs/clients.md tells what
was run. The model was taught a conversation by heart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from tests import oracle
from tests.clients.environments import needs, run_node, run_packed, run_python
from tests.patience import until
from tests.server_process import RunningServer, running_server
from tests.split_server.http.taught import (
    ANSWER,
    ARGUMENTS,
    NAMES_ALONE,
    QUESTION,
    RESULT,
    TOOL,
    taught_checkpoint,
)

TOKEN = "a-token-of-the-test"
SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "enum": [1, 2, 3]}},
    "required": ["n"],
    "additionalProperties": False,
}
GIVEN = {
    "question": QUESTION,
    "tool": TOOL,
    "result": RESULT,
    "schema": SCHEMA,
    "context": "How much is there? There are",
    "choices": [" 12.50 left.", " none", " twelve left of all that there was"],
    "stop": "\n",
}
# By program: what each is run with.
PYTHON = {
    "openai_python": ("openai==3.57.0",),
    "litellm_sdk": ("litellm==1.110.2",),
    "instructor_modes": ("instructor==1.17.0",),
    "pydantic_ai_chat": ("pydantic-ai-slim[openai]==2.68.0",),
    "aider_ask": ("aider-chat==0.86.2",),
    "llm_command": ("llm==0.36",),
    "llama_index_chat": ("llama-index-llms-openai-like==0.8.1",),
    "outlines_forms": ("outlines[openai]==1.3.3",),
}
NODE = {
    "openai_node": ("openai@7.57.0",),
    "ai_sdk": ("ai@7.0.173", "@ai-sdk/openai-compatible@3.0.92"),
    "langchain_node": ("@langchain/openai@1.6.0", "@langchain/core@1.4.0"),
}
EVALUATION = ("lm_eval[api]==0.4.13",)
FRONT_END = "sillytavern@1.19.0"
SERVED_PAGE = ("open-webui==0.6.43",)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return taught_checkpoint(tmp_path_factory.mktemp("taught") / "taught", NAMES_ALONE)


@pytest.fixture(scope="module")
def server(path: Path) -> Iterator[RunningServer]:
    settings: dict[str, Any] = {"token": TOKEN, "dtype": "float32"}
    with running_server(path, ollama_listen="127.0.0.1:0", **settings) as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_left(server: RunningServer) -> Iterator[None]:
    """What a client broke off has ended."""
    yield
    compat = server.parts.compat
    assert compat is not None
    until(lambda: not compat.generator.places.running)


def given(server: RunningServer) -> tuple[str, str, str]:
    return (f"{server.url}/v1", TOKEN, json.dumps(GIVEN))


def check(told: dict[str, Any]) -> None:
    """What a program that asked for it was told; each does what its client can."""
    expected = {"chat": ANSWER, "stream": ANSWER, "tool": ARGUMENTS, "error": "model_not_found"}
    for name, value in expected.items():
        assert told.get(name, value) == value
    assert all(told.get("replies", ()))
    schema = told.get("schema", {"n": 1})
    assert schema["n"] in SCHEMA["properties"]["n"]["enum"]
    if "whole" in told:
        assert told["whole"] == told["streamed"]
    forms = told.get("forms", {})
    assert forms.get("schema", {"n": 1})["n"] in (1, 2, 3)
    assert forms.get("choice", "red") in ("blue", "red")
    assert set(forms.get("pattern", "abb")) <= set("ab")


@pytest.mark.parametrize("program", [pytest.param(name, marks=needs(name)) for name in PYTHON])
def test_a_client_talks_to_the_server_unchanged(server: RunningServer, program: str) -> None:
    check(run_python(PYTHON[program], program, *given(server)))


@pytest.mark.parametrize("program", [pytest.param(name, marks=needs(name)) for name in NODE])
def test_a_client_of_node_does_too(server: RunningServer, program: str) -> None:
    check(run_node(NODE[program], program, *given(server)))


@needs("instructor_modes")
def test_json_of_instructor_is_an_object_without_a_fence(server: RunningServer) -> None:
    told = run_python(PYTHON["instructor_modes"], "instructor_modes", *given(server))
    assert all(reply["n"] in (1, 2, 3) for reply in told["modes"].values())
    assert isinstance(json.loads(told["json"]), dict)


@needs("sillytavern_forms")
def test_what_forms_of_sillytavern_send_by_default_is_taken(server: RunningServer) -> None:
    url = f"http://127.0.0.1:{server.ollama_port}"
    told = run_packed(FRONT_END, "sillytavern_forms", *given(server), url)
    assert told["forms"].keys() == {"ooba", "vllm", "aphrodite", "tabby", "koboldcpp", "generic"}
    for first, again, _, streamed in told["forms"].values():
        # Of four the third has no seed.
        assert first
        assert first == again == streamed
    assert told["ollama"]


@needs("open_webui_chat")
def test_open_webui_asks_both_apis_for_its_chats(server: RunningServer) -> None:
    url = f"http://127.0.0.1:{server.ollama_port}"
    told = run_python(SERVED_PAGE, "open_webui_chat", *given(server), url)
    check(told)
    check(told["ollama"])
    assert told["refused"] == 400
    assert told["left"] == [True, True]


@needs("lm_eval_choices")
def test_choices_of_lm_eval_have_hugging_faces_scores(server: RunningServer, path: Path) -> None:
    told = run_python(EVALUATION, "lm_eval_choices", *given(server))
    for (score, greedy), ids in zip(told["scores"], told["tokens"], strict=True):
        wanted, best = _likelihood(path, ids, told["before"])
        assert score == pytest.approx(wanted, abs=1e-3)
        assert greedy == best
    assert isinstance(told["text"], str)


def _likelihood(path: Path, ids: list[int], before: int) -> tuple[float, bool]:
    """Of the tokens behind the first ``before``, and whether each is the likeliest."""
    logits: Any = oracle.logits(path, ids).to(torch.float64)
    scores = torch.log_softmax(logits, -1)
    places = range(before, len(ids))
    total = sum(float(scores[at - 1, ids[at]]) for at in places)
    return total, all(int(scores[at - 1].argmax()) == ids[at] for at in places)
