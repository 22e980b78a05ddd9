"""A table that travels in blocks: fewer bytes, the same files and tokens."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from split_client.api import SplitClient
from split_client.generation.sampling.params import SamplingParams
from split_client.weights.store import ModelStore
from tests import oracle
from tests.end_to_end.relays import running_relay_with_counters
from tests.packed_models import TABLE, PackedModel, packed_model
from tests.server_process import running_server

COUNT = 24
QUESTION = [{"role": "user", "content": "A savings account pays interest."}]


@dataclass(frozen=True)
class Seen:
    """``down``: bytes that the relay sent until the client was connected."""

    down: int
    digest: str
    table: bytes
    tokens: list[int]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> PackedModel:
    return packed_model(tmp_path_factory.mktemp("model"))


def _seen(checkpoint: Path, cache: Path) -> Seen:
    with (
        running_server(checkpoint, dtype="float32") as server,
        running_relay_with_counters(server.port) as (url, received),
        SplitClient(url, cache=cache) as client,
    ):
        down = received()
        reply = client.chat(QUESTION, SamplingParams(), max_tokens=COUNT)
        reply.read()
        [stored] = ModelStore(cache).list()
        table = stored.path(TABLE).read_bytes()
        return Seen(down, client.manifest.digest, table, reply.token_ids)


def test_the_tokens_are_those_of_the_rows_and_fewer_bytes_travel(
    model: PackedModel, tmp_path: Path
) -> None:
    packed = _seen(model.packed, tmp_path / "packed")
    plain = _seen(model.plain, tmp_path / "plain")
    assert (packed.digest, packed.table) == (plain.digest, plain.table)
    prompt = oracle.tokenizer(model.plain).apply_chat_template(
        QUESTION, add_generation_prompt=True, return_dict=False
    )
    assert packed.tokens == plain.tokens == oracle.greedy(model.plain, list(prompt), COUNT)
    assert len(plain.table) == model.table
    assert abs(plain.down - packed.down - model.spared) < model.spared / 10
