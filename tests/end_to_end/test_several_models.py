"""The command with two models: a process, its greeting, both models' chats, its end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx

from split_client.api import SplitClient
from split_client.generation.sampling.params import SamplingParams
from tests import oracle
from tests.end_to_end.server_processes import ServerProcess
from tests.patience import PATIENCE, until
from tests.split_relay.net import free_port

HELLO = [{"role": "user", "content": "What is split inference?"}]
COUNT = 16


def expected(path: Path) -> list[int]:
    render = oracle.tokenizer(path).apply_chat_template
    ids = list(render(HELLO, add_generation_prompt=True, return_dict=False))
    return oracle.greedy(path, ids, COUNT)


def states(url: str) -> list[str]:
    found = httpx.get(f"{url}/api/v1/models", trust_env=False, timeout=PATIENCE).json()
    return [model["state"] for model in found["models"]]


def test_a_process_serves_two_models_and_lets_an_idle_one_go(
    tiny_path: Path, tiny_family: Callable[[str], Path], tmp_path: Path
) -> None:
    other_path, port = tiny_family("llama"), free_port()
    options = ("--model", f"other={other_path}", "--dtype", "float32", "--keep", "0")
    server = ServerProcess(Path(f"first={tiny_path}"), port, *options)
    try:
        greeting = server.read_greeting()
        for path, below in ((other_path, "/m/other"), (tiny_path, "")):
            with SplitClient(f"{server.url}{below}", cache=tmp_path) as client:
                reply = client.chat(HELLO, SamplingParams(), max_tokens=COUNT)
                reply.read()
            assert reply.token_ids == expected(path)
        # Unused from its last step on.
        until(lambda: states(server.url) == ["loaded", "unloaded"])
        metrics = httpx.get(f"{server.url}/metrics", trust_env=False, timeout=PATIENCE).text
        status = server.end(PATIENCE)
    finally:
        server.kill()
    assert any(line.startswith("/m/first and /: tiny (qwen2, 3 layers") for line in greeting)
    assert any(line.startswith("/m/other: llama, 3 layers, context 512") for line in greeting)
    assert 'split_model_loads_total{model="other"} 1.0' in metrics
    assert status == 0
