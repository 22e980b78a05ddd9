"""What a server process kept, the next process finds: real processes, killed or ended in order."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path

import pytest

from split_client.api import Reply, SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_server.checkpoint.folder import EMBEDDED
from tests import oracle
from tests.end_to_end.server_processes import ServerProcess, server_process
from tests.patience import PATIENCE, until
from tests.split_relay.net import free_port

SYSTEM = " ".join(f"Rule {number}: answer briefly and name the rule." for number in range(12))
QUESTION = "What is split inference?"
COUNT = 24


def options(folder: Path, *more: str) -> list[str]:
    kept = ("--kv-disk", str(folder / "kv"), "--state", str(folder / "state"))
    return [*kept, "--dtype", "float32", *more]


def asked(url: str, cache: Path, system: str, **access: str) -> Reply:
    with SplitClient(url, cache=cache, **access) as client:
        messages = [{"role": "system", "content": system}, {"role": "user", "content": QUESTION}]
        reply = client.chat(messages, SamplingParams(), max_tokens=COUNT)
        reply.read()
    assert reply.token_ids == expected(messages)
    return reply


def expected(messages: list[dict[str, str]]) -> list[int]:
    render = oracle.tokenizer(EMBEDDED).apply_chat_template
    ids = list(render(messages, add_generation_prompt=True, return_dict=False))
    return oracle.greedy(EMBEDDED, ids, COUNT)


def metric(url: str, name: str) -> float:
    with urllib.request.urlopen(f"{url}/metrics", timeout=PATIENCE) as answer:
        lines = answer.read().decode().splitlines()
    return next((float(line.split()[-1]) for line in lines if line.startswith(name)), 0.0)


def on_disk(server: ServerProcess) -> float:
    return metric(server.url, 'split_kv_runs{state="written",tier="disk"}')


def found_all(server: ServerProcess, folder: Path) -> bool:
    """Whether a server that was started again knows every file: a run is of use from its first."""
    return on_disk(server) == len([*(folder / "kv").glob("*.kv")]) > 0


def test_a_chat_goes_on_after_the_server_was_ended_and_started_again(tmp_path: Path) -> None:
    with server_process(EMBEDDED, free_port(), *options(tmp_path)) as server:
        first = asked(server.url, tmp_path, SYSTEM)
        assert server.end(PATIENCE) == 0
        server.start()
        server.wait_until_it_listens()
        until(lambda: found_all(server, tmp_path))
        second = asked(server.url, tmp_path, SYSTEM)
        assert first.stats.prompt_restored == 0
        assert second.stats.prompt_restored >= second.stats.prompt_tokens - 16
        assert second.token_ids == first.token_ids
        assert metric(server.url, 'split_kv_positions_total{source="disk"}') >= 16
        assert metric(server.url, 'split_kv_disk_files_total{work="read"}') > 0
        with urllib.request.urlopen(f"{server.url}/api/v1/memory", timeout=PATIENCE) as answer:
            assert json.load(answer)["kept"]["disk"]["files"] == on_disk(server)


def test_rows_that_are_sent_in_vain_are_read_from_disk_as_well(tmp_path: Path) -> None:
    def cached() -> int:
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
        body = {"messages": messages, "max_tokens": 4}
        request = urllib.request.Request(
            f"{server.url}/v1/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            usage = json.load(answer)["usage"]
        return int(usage["prompt_tokens_details"]["cached_tokens"])

    with server_process(EMBEDDED, free_port(), *options(tmp_path)) as server:
        assert cached() == 0
        assert server.end(PATIENCE) == 0
        server.start()
        server.wait_until_it_listens()
        until(lambda: found_all(server, tmp_path))
        assert cached() >= 64


def test_a_server_that_is_killed_while_it_writes_leaves_whole_files_alone(tmp_path: Path) -> None:
    with server_process(EMBEDDED, free_port(), *options(tmp_path)) as server:
        restored = 0
        for number in range(4):
            reply = asked(server.url, tmp_path, f"Killed {number % 2}. {SYSTEM}")
            restored += reply.stats.prompt_restored
            if number % 2:
                # Idle long enough: the first files are there, others are being written.
                until(lambda: on_disk(server))
            server.kill()
            server.start()
            server.wait_until_it_listens()
        assert metric(server.url, "split_kv_disk_failures_total") == 0
        assert not [*(tmp_path / "kv").glob(".tmp*")]


def test_who_is_revoked_while_no_server_runs_leaves_nothing(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    ann, bob = "ann-token-of-the-test", "bob-token-of-the-test"
    tokens.write_text(f"ann {ann}\nbob {bob}\n")
    access = ("--token-file", str(tokens))
    with server_process(EMBEDDED, free_port(), *options(tmp_path, *access)) as server:
        for token in (ann, bob):
            asked(server.url, tmp_path, f"{token}. {SYSTEM}", token=token)
        assert server.end(PATIENCE) == 0
        both = {*(tmp_path / "kv").glob("*.kv")}
        tokens.write_text(f"bob {bob}\n")
        server.start()
        server.wait_until_it_listens()
        until(lambda: len({*(tmp_path / "kv").glob("*.kv")}) < len(both))
        (salts,) = (tmp_path / "state").glob("*.salts")
        until(lambda: '"ann"' not in salts.read_text())
        again = asked(server.url, tmp_path, f"{bob}. {SYSTEM}", token=bob)
        assert again.stats.prompt_restored > 64
        # And while it runs.
        tokens.write_text("carol carol-token-of-the-test\n")
        until(lambda: not [*(tmp_path / "kv").glob("*.kv")])


@pytest.mark.parametrize("missing", ["key", "salts"])
def test_without_key_or_salts_everything_is_computed(tmp_path: Path, missing: str) -> None:
    with server_process(EMBEDDED, free_port(), *options(tmp_path)) as server:
        asked(server.url, tmp_path, SYSTEM)
        assert server.end(PATIENCE) == 0
        for path in (tmp_path / "state").glob(f"*.{missing}"):
            path.unlink()
        server.start()
        server.wait_until_it_listens()
        assert asked(server.url, tmp_path, SYSTEM).stats.prompt_restored == 0
