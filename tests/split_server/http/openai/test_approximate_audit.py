"""Approximate replies of text APIs computed plainly as well: what is found, told and given up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from scripts.bench.splice import relay
from tests.checkpoints import tiny_tokenizer
from tests.patience import until
from tests.server_process import RunningServer, running_server
from tests.split_server.http.openai.calls import completion
from tests.split_server.http.openai.test_edits_inside import edited

LENGTH, OLD, NEW = 200, 1, 4


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("relay") / "relay"
    tiny_tokenizer(path)
    return relay.write_checkpoint(path, AutoTokenizer.from_pretrained(path))


@pytest.fixture
def audited(toy: Path) -> Iterator[RunningServer]:
    with running_server(toy, kv_approximate="on", kv_audit=1.0) as running:
        yield running


def reply(server: RunningServer, depth: int, seed: int) -> int:
    """Tokens of the prompt that were moved, in a completion of a text whose value has changed."""
    before, after = (relay.relayed(depth, value, LENGTH, seed) for value in (OLD, NEW))
    after[6:6] = [relay.filler(3), relay.filler(4)]
    asked = {"max_tokens": 1, "temperature": 0, "cache": "approximate"}
    for ids in (before, after):
        answer = completion(server, prompt=ids, cache_salt=f"of {seed}", **asked)
    found: int = answer["usage"]["prompt_tokens_details"].get("approximate_tokens", 0)
    return found


def metrics(server: RunningServer) -> dict[str, float]:
    with server.client() as client:
        lines = client.get("/metrics").text.splitlines()
    told = (line.rsplit(" ", 1) for line in lines if line[:1] != "#")
    return {name: float(value) for name, value in told}


def counted(server: RunningServer, outcome: str, count: int) -> dict[str, float]:
    """The metrics once so many audits have ended that way."""
    name = f'split_kv_approximate_audit_total{{kind="moved",outcome="{outcome}"}}'
    until(lambda: metrics(server)[name] >= count)
    found = metrics(server)
    assert found[name] == count
    return found


def test_wrong_replies_are_found_and_after_three_nothing_is_moved(audited: RunningServer) -> None:
    for seed in range(3):
        assert reply(audited, 2, seed) > 100
        found = counted(audited, "failed", seed + 1)
    # Beyond the bound of what is taken for approximate.
    assert found['split_kv_audit_kl_bucket{le="0.3"}'] == 0
    assert found["split_kv_audit_kl_count"] == 3
    assert reply(audited, 2, 7) == 0
    assert counted(audited, "failed", 3)['split_kv_splices_total{outcome="done"}'] == 3


def test_a_reply_that_reads_what_was_computed_anew_passes_and_its_sequence_stays(
    audited: RunningServer,
) -> None:
    assert reply(audited, 0, 1) > 100
    found = counted(audited, "passed", 1)
    assert found['split_kv_audit_kl_bucket{le="0.3"}'] == 1
    assert audited.parts.compat is not None
    assert audited.parts.compat.generator.idle_sequences == 1


def test_exact_replies_are_not_audited_and_a_share_of_none_audits_nothing(toy: Path) -> None:
    with running_server(kv_approximate="on", kv_audit=0.0) as server:
        assert edited(server, "Ann", cache="approximate")[0]["approximate_tokens"] > 200
        generator = server.parts.compat.generator  # type: ignore[union-attr]
        assert generator._audits is not None
        assert generator._audits._under_way is None
        assert metrics(server)["split_kv_audit_kl_count"] == 0
