"""Every family, tied and untied, beyond its window: the client equals the whole model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

from split_client.api import ChatSession, SplitClient
from split_client.generation.sampling.draw import uniform
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.sequence import Sequence
from split_client.transport.channel import Channel, Patience
from split_client.transport.connect import connector
from split_client.transport.endpoint import Endpoint
from split_client.transport.remote import RemoteBackend
from split_wire.limits import frame_limit
from tests import oracle
from tests.checkpoints import ALL_FAMILIES, FAMILIES, WINDOW, tiny_checkpoint
from tests.exhaustive import EXHAUSTIVE
from tests.server_process import running_server

# The others, short and tied, are in test_client_equals_generate. What a family changes and whether
# its ends are tied have nothing to do with each other: each family has one of the two by turns.
CASES = [
    (name, tied)
    for turn, name in enumerate(name for name in ALL_FAMILIES if name not in FAMILIES)
    for tied in ((True, False) if EXHAUSTIVE else (turn % 2 == 0,))
]
LONG = "The device holds the ends of a model, and its middle is held by a server, far away."
EDITED = "The device holds the ends of a model; who holds the rest?"
SHORT = "A savings account pays interest."
COUNT = 24
IDS = [(7 * i + 3) % 250 + 5 for i in range(5 * WINDOW)]


@dataclass(frozen=True)
class Served:
    """A connected client of a real server over the checkpoint at ``path``."""

    path: Path
    url: str
    client: SplitClient

    @contextmanager
    def sequence(self) -> Iterator[Sequence]:
        """A session by token ids."""
        manifest, embedder = self.client.manifest, self.client.ends.embedder
        connect = connector(Endpoint.parse(self.url), None, frame_limit(manifest.hidden_size, 1))
        channel = Channel(connect, "websocket", Patience())
        backend = RemoteBackend(
            channel, manifest.hidden_size, manifest.digest, manifest.max_context
        )
        sequence = Sequence(backend, lambda ids: embedder.lookup(ids, backend.dtype))
        try:
            yield sequence
        finally:
            sequence.close()
            channel.close()


@pytest.fixture(
    scope="module",
    params=CASES,
    ids=lambda case: f"{case[0]}-{'tied' if case[1] else 'untied'}",
)
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    family, tied = request.param
    folder = tmp_path_factory.mktemp(family)
    path = tiny_checkpoint(family, folder / family, tied=tied)
    with running_server(path) as server, SplitClient(server.url, cache=folder) as client:
        yield Served(path, server.url, client)


def assert_reply_is_that_of_generate(served: Served, chat: ChatSession, text: str) -> int:
    """Says ``text``; returns how many positions of the prompt were in the cache already."""
    chat.params, chat.max_tokens = SamplingParams(), COUNT
    chat.conversation.say(text)
    prompt = chat.conversation.prompt().ids
    assert len(prompt) > 2 * WINDOW
    reply = chat.answer()
    reply.read()
    assert reply.token_ids == oracle.greedy(served.path, prompt, COUNT)
    return reply.stats.prompt_tokens - reply.stats.prompt_sent


def test_turns_undone_and_edited_beyond_the_window_equal_generate(served: Served) -> None:
    chat = served.client.conversation()
    assert_reply_is_that_of_generate(served, chat, LONG)
    assert_reply_is_that_of_generate(served, chat, SHORT)
    held = chat.cached_tokens
    chat.conversation.undo()
    kept = assert_reply_is_that_of_generate(served, chat, LONG)
    assert 2 * WINDOW < kept < held - WINDOW
    chat.conversation.undo()
    chat.conversation.undo()
    held = chat.cached_tokens
    kept = assert_reply_is_that_of_generate(served, chat, EDITED)
    assert WINDOW < kept < held - 2 * WINDOW


def test_logits_after_every_prefix_and_rollback_equal_the_models(served: Served) -> None:
    head = served.client.ends.head
    branched = [*IDS[: 2 * WINDOW + 3], *IDS[:WINDOW]]
    with served.sequence() as sequence:
        for ids in (IDS[:1], IDS[:WINDOW], IDS, branched, IDS[: WINDOW // 2], IDS):
            logits = head.logits(sequence.extend(ids).hidden)
            wanted = oracle.logits(served.path, ids)[-1]
            # Sums in another order differ in their last bits; logits are of the order of 5.
            torch.testing.assert_close(torch.from_numpy(logits), wanted, atol=1e-4, rtol=1e-4)


def test_seeded_draws_are_those_of_the_models_own_distribution(served: Served) -> None:
    with served.sequence() as sequence:
        hidden = sequence.extend(IDS).hidden
    logits = oracle.logits(served.path, IDS)[-1].double()
    order = torch.argsort(-logits, stable=True)
    cumulated = torch.cumsum(torch.softmax(logits[order] / 1.3, dim=0), dim=0).numpy()
    sampler = Sampler(served.client.ends.head, SamplingParams(temperature=1.3, seed=11))
    draws = range(40)
    wanted = [
        int(order[np.searchsorted(cumulated, uniform(11, draw), side="right")]) for draw in draws
    ]
    chosen = [sampler.choose(hidden, IDS, [], draw).token_id for draw in draws]
    assert chosen == wanted
    assert len(set(chosen)) > 3
