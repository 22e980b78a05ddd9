"""Real clients that ask about the same text at once: a real server computes it once."""

from __future__ import annotations

import itertools
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from split_client.api import SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_server.checkpoint.folder import EMBEDDED
from split_server.engine.leaders import LEAST_SAVED
from tests import oracle
from tests.server_process import RunningServer, running_server

SYSTEM = " ".join(f"Rule {number}: answer briefly and name the rule." for number in range(30))
TOGETHER, COUNT = 8, 8


def messages(number: int) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": f"{number} is the rule that I ask about."},
    ]


def prompt(number: int) -> list[int]:
    render = oracle.tokenizer(EMBEDDED).apply_chat_template
    return list(render(messages(number), add_generation_prompt=True, return_dict=False))


def rows(server: RunningServer) -> int:
    """Rows that passes of the model took."""
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    return sum(
        int(float(line.split()[-1])) for line in lines if line.startswith("split_rows_total")
    )


def test_eight_clients_at_once_have_their_common_text_computed_once(tmp_path: Path) -> None:
    prompts = [prompt(number) for number in range(TOGETHER)]
    alike = itertools.takewhile(lambda column: len({*column}) == 1, zip(*prompts, strict=False))
    common = len([*alike])
    ready = threading.Barrier(TOGETHER)

    def asked(client: SplitClient, number: int) -> list[int]:
        ready.wait(60)
        reply = client.chat(messages(number), SamplingParams(), max_tokens=COUNT)
        reply.read()
        return reply.token_ids

    with running_server() as server:
        clients = [SplitClient(server.url, cache=tmp_path) for _ in range(TOGETHER)]
        for client in clients:
            client.connect()
        before = rows(server)
        with ThreadPoolExecutor(TOGETHER) as threads:
            replies = list(threads.map(asked, clients, range(TOGETHER)))
        computed = rows(server) - before
        for client in clients:
            client.close()
    assert replies == [oracle.greedy(EMBEDDED, ids, COUNT) for ids in prompts]
    tails = sum(len(ids) - common + COUNT for ids in prompts)
    # Of each the last block that it shares may be a partial one, and so may a step's last row. Who
    # comes when few of the common rows are left to compute does not wait for those.
    assert common > 256
    assert computed <= common + tails + TOGETHER * (18 + LEAST_SAVED)
