"""Forced tokens and noise: what is released, and so what is spent, is that of plain decoding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from split_client.generation.constraint import NothingAhead
from split_client.generation.head.exact import ExactLMHead
from split_client.generation.head.rows import WeightRows
from split_client.generation.head.spec import HeadSpec
from split_client.generation.loop import Limits, TokenEvent, decode
from split_client.generation.sampling.params import SamplingParams
from split_client.generation.sampling.sampler import Sampler
from split_client.generation.sequence import Sequence
from tests.split_client.generation.speculation.scripted import (
    VOCABULARY,
    WIDTH,
    Form,
    RowBackend,
    Texts,
    embed,
)
from tests.split_client.noise.clients import Client


class Unforced(NothingAhead, Form):
    """The same form, every token of which is chosen."""


@pytest.mark.parametrize("seed", range(6))
def test_a_form_spends_what_plain_decoding_spends(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "head.bin"
    np.random.default_rng(5).normal(size=(VOCABULARY, WIDTH)).astype("<f4").tofile(path)
    head = ExactLMHead(WeightRows.open(path, "f32", VOCABULARY, WIDTH), HeadSpec())
    told = []
    for kind in (Form, Unforced):
        client = Client(tmp_path / f"{kind.__name__}.ledger")

        def rows(tokens: list[int], start: int, stop: int, of: Client = client) -> Any:
            of.conversation.rows(tokens, start, stop, "f32")
            return embed(tokens[start:stop])

        backend = RowBackend(max_rows=64)
        sequence = Sequence(backend, embed, rows)  # type: ignore[arg-type]
        sampler, limits = Sampler(head, SamplingParams()), Limits(frozenset(), 40)
        form = kind(seed, 100)
        events = list(decode(sequence, sampler, Texts(), [1, 2, 3], limits, constraint=form))
        reply = [event.token for event in events if isinstance(event, TokenEvent)]
        assert client.conversation.spent.rows <= 3 + len(reply) - 1
        # Of tokens at the end the plain loop sends all but one, and here a later turn does.
        sequence.extend([1, 2, 3, *reply, 4])
        told.append((reply, client.conversation.spent, len(backend.steps)))
    (forced, spent, steps), (plain, plainly, single) = told
    assert (forced, spent) == (plain, plainly)
    assert steps < single
