"""Existing clients, unchanged and pinned, each in an environment of its own, against a real server.

They are downloaded, so that they run with ``GATELINK_CLIENTS=1`` alone; docs/clients.md tells what
was run. The model was taught a conversation by heart.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from tests import oracle
from tests.clients.environments import run_client
from tests.patience import until
from tests.server_process import RunningServer, running_server
from tests.split_server.http.taught import (
    ANSWER,
    ARGUMENTS,
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
CLIENTS = {
    "openai_python.py": ["openai==3.57.0"],
    "litellm_sdk.py": ["litellm==1.110.2"],
    "instructor_modes.py": ["instructor==1.17.0"],
    "pydantic_ai_chat.py": ["pydantic-ai-slim[openai]==2.68.0"],
    "llm_command.py": ["llm==0.36"],
    "openai_node.mjs": ["openai@7.57.0"],
    "ai_sdk.mjs": ["ai@7.0.173", "@ai-sdk/openai-compatible@3.0.92"],
}
EVALUATION = ["lm_eval[api]==0.4.13"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.environ.get("GATELINK_CLIENTS") != "1", reason="GATELINK_CLIENTS=1 downloads clients"
    ),
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return taught_checkpoint(tmp_path_factory.mktemp("taught") / "taught")


@pytest.fixture(scope="module")
def server(path: Path) -> Iterator[RunningServer]:
    with running_server(path, token=TOKEN, dtype="float32") as running:
        yield running


@pytest.fixture(scope="module")
def folder(pytestconfig: pytest.Config) -> Path:
    assert pytestconfig.cache is not None
    return Path(pytestconfig.cache.mkdir("clients"))


@pytest.mark.parametrize("program", CLIENTS)
def test_a_client_talks_to_the_server_unchanged(
    server: RunningServer, folder: Path, program: str
) -> None:
    if program.endswith(".mjs") and shutil.which("npm") is None:
        pytest.skip("Node.js is missing")
    given = (f"{server.url}/v1", TOKEN, json.dumps(GIVEN))
    told = run_client(folder, program, CLIENTS[program], *given)
    expected = {"chat": ANSWER, "stream": ANSWER, "tool": ARGUMENTS, "error": "model_not_found"}
    for name, value in expected.items():
        assert told.get(name, value) == value
    assert told["schema"]["n"] in SCHEMA["properties"]["n"]["enum"]
    assert told.get("whole", "") == told.get("streamed", told.get("whole", "")) or "chat" in told
    assert server.parts.compat is not None
    places = server.parts.compat.generator.places
    until(lambda: not places.running)


def test_json_of_instructor_is_an_object_without_a_fence(
    server: RunningServer, folder: Path
) -> None:
    given = (f"{server.url}/v1", TOKEN, json.dumps(GIVEN))
    packages = CLIENTS["instructor_modes.py"]
    told = run_client(folder, "instructor_modes.py", packages, *given)
    assert all(reply["n"] in (1, 2, 3) for reply in told["modes"].values())
    assert isinstance(json.loads(told["json"]), dict)


def test_choices_of_lm_eval_have_hugging_faces_scores(
    server: RunningServer, path: Path, folder: Path
) -> None:
    given = (f"{server.url}/v1", TOKEN, json.dumps(GIVEN))
    told = run_client(folder, "lm_eval_choices.py", EVALUATION, *given)
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
