"""Unchanged clients of the APIs that are translated, against a model that was taught a dialogue."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests import patience
from tests.clients.environments import needs, run_node, run_python
from tests.server_process import RunningServer, running_server
from tests.split_server.http.taught import ANSWER, ARGUMENTS, NAMES_ALONE, taught_checkpoint

pytestmark = pytest.mark.slow
TOKEN = "a-token-of-the-test"
CALL = ["balance", ARGUMENTS]
WIDTH = 64


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    path = taught_checkpoint(tmp_path_factory.mktemp("taught") / "taught", NAMES_ALONE)
    # Not every client lets its user ask for a temperature.
    makers = path / "generation_config.json"
    ends = json.loads(makers.read_text())["eos_token_id"]
    makers.write_text(json.dumps({"do_sample": False, "eos_token_id": ends}))
    settings: dict[str, Any] = {"token": TOKEN, "dtype": "float32"}
    with running_server(path, ollama_listen="127.0.0.1:0", **settings) as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_left(server: RunningServer) -> Iterator[None]:
    """What a client broke off has ended."""
    yield
    compat = server.parts.compat
    assert compat is not None
    patience.until(lambda: not compat.generator.places.running)


def ollama_url(server: RunningServer) -> str:
    return f"http://127.0.0.1:{server.ollama_port}"


@needs("anthropic")
def test_anthropic(server: RunningServer) -> None:
    found = run_python(("anthropic==2.14.0",), "anthropic_package", server.url, TOKEN)
    assert found["called"] == found["streamed_call"] == CALL
    assert found["stop_reason"] == "tool_use"
    assert found["answered"] == found["streamed"] == found["final"] == ANSWER
    assert isinstance(found["schema"]["account"], str)
    assert (found["error"], found["stranger"]) == ("not_found_error", "refused")
    assert found["counted"]


@needs("openai-responses")
def test_openai_responses(server: RunningServer) -> None:
    found = run_python(("openai==3.57.0",), "openai_responses", server.url, TOKEN)
    assert found["called"] == CALL
    assert found["answered"] == found["final"] == found["followed"] == ANSWER
    assert found["kinds"][:2] == ["response.created", "response.in_progress"]
    assert found["kinds"][-1] == "response.completed"
    assert found["kept"] == [True, True]
    assert found["parsed"]
    assert found["error"] == "tools[0].type"
    assert found["vectors"] == [WIDTH, WIDTH]


@needs("openai-agents")
def test_openai_agents(server: RunningServer) -> None:
    pins = ("openai-agents==0.24.0", "openai==3.57.0")
    found = run_python(pins, "openai_agents", server.url, TOKEN)
    assert found["answered"] == found["streamed"] == ANSWER
    assert "raw_response_event" in found["kinds"]
    assert found["schema"]
    assert found["went_on"]
    assert found["error"] == "model_not_found"


@needs("ollama")
def test_ollama_package(server: RunningServer) -> None:
    found = run_python(("ollama==0.6.3",), "ollama_package", ollama_url(server), TOKEN)
    assert found["name"] == found["running"] == "taught:latest"
    assert found["capabilities"] == ["completion", "tools", "embedding"]
    assert found["called"] == CALL
    assert found["answered"] == found["streamed"] == ANSWER
    assert found["done"] == "stop"
    assert isinstance(found["schema"]["account"], str)
    assert found["generated"]
    assert found["errors"] == [404, 400, 400]
    assert found["loaded"] == "load"
    assert found["vectors"] == [WIDTH, WIDTH]


@needs("llm-ollama")
def test_llm_ollama(server: RunningServer) -> None:
    pins = ("llm-ollama==0.19.1", "llm==0.36", "ollama==0.6.3")
    found = run_python(pins, "llm_with_ollama", ollama_url(server), TOKEN)
    assert found["names"] == ["ollama/taught:latest"]
    assert found["answered"].endswith(ANSWER)
    assert found["streamed"].endswith(ANSWER)
    assert found["conversation"] == [True, True]
    assert found["schema"]
    assert found["error"] == 400
    assert found["vector"] == WIDTH


@needs("ollama-js")
def test_ollama_js(server: RunningServer) -> None:
    found = run_node(("ollama@0.6.4",), "ollama_js", ollama_url(server), TOKEN)
    assert found["called"] == CALL
    assert found["answered"] == found["streamed"] == ANSWER
    assert isinstance(found["schema"]["account"], str)
    assert found["errors"] == [404, "string", 400, "string"]
    assert found["aborted"]
    assert found["version"].count(".") == 2
    assert found["vectors"] == [WIDTH, WIDTH]


@needs("ai-sdk-openai")
def test_ai_sdk_openai(server: RunningServer) -> None:
    pins = ("@ai-sdk/openai@3.0.141", "ai@6.0.326")
    found = run_node(pins, "ai_sdk_openai", server.url, TOKEN)
    assert found["answered"] == found["streamed"] == ANSWER
    assert found["steps"] == 2
    assert (found["schema"], found["went_on"]) == ("string", "string")
    assert found["error"] == 404
    assert found["vectors"] == [WIDTH, WIDTH]
