"""A trained model through client and server in float32, against Hugging Face on the same folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from prometheus_client.parser import text_string_to_metric_families
from transformers import AutoModelForCausalLM

from scripts.real.chats import chats
from split_client.api import AttentionRequest, SplitClient
from split_client.generation.head.head import LMHead
from split_client.generation.loop import TokenEvent
from tests.exhaustive import EXHAUSTIVE
from tests.real_model.talking import Forced, forced, replies, templated
from tests.server_process import RunningServer, running_server

# Several times as many as are answered together.
_CHATS, _TOKENS = (60, 64) if EXHAUSTIVE else (16, 16)
_STATES_OF_EACH, _TOP = 10, 50
# Float32 sums of these 576 products are off by 1.4e-5 at most, and two of them decide an order.
_ROUNDING = 5e-5
_ONE_IN_ANOTHER_ORDER_OF = 60
_ATTENTION_STEPS = 12


@pytest.fixture(scope="module")
def server(real_path: Path) -> Iterator[RunningServer]:
    with running_server(real_path, dtype="float32") as running:
        yield running


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def client(server: RunningServer, cache: Path) -> Iterator[SplitClient]:
    with SplitClient(server.url, cache=cache) as client:
        yield client


@pytest.fixture(scope="module")
def compared(
    real_path: Path, server: RunningServer, client: SplitClient, cache: Path
) -> list[Forced]:
    """The chats, answered together; Hugging Face reads one while others are answered."""
    assert client.ends.head.screened
    asked = chats(_CHATS)
    answered = replies(server.url, cache, asked, _TOKENS)
    return [forced(real_path, chat, reply) for chat, reply in zip(asked, answered, strict=True)]


@pytest.mark.slow
def test_replies_to_many_chats_at_once_are_those_of_greedy_generate(
    compared: list[Forced], server: RunningServer, client: SplitClient
) -> None:
    different = {number: one.differing for number, one in enumerate(compared) if one.differing}
    assert not different, different
    assert len(compared) == _CHATS
    ends = client.manifest.eos_token_ids
    assert all(len(one.reply) == _TOKENS or one.reply[-1] in ends for one in compared)
    assert _passes(server, "+Inf") > _passes(server, "1"), "no two sessions shared a pass"


@pytest.mark.slow
def test_exact_and_compact_head_give_the_top_fifty_of_a_float64_product(
    compared: list[Forced], server: RunningServer, client: SplitClient, cache: Path
) -> None:
    states = _states(compared)
    with SplitClient(server.url, cache=cache, lm_head="compact") as other:
        exact, compact = client.ends.head, other.ends.head
        assert exact.screened
        assert compact.screened
        found = [[head.top(state, _TOP).ids for head in (exact, compact)] for state in states]
    assert all(np.array_equal(*two) for two in found)
    every, another_order = _rows(exact), 0
    for part in range(0, len(states), 100):
        wanted = states[part : part + 100].astype(np.float64) @ every.T
        for (ids, _), logits in zip(found[part : part + 100], wanted, strict=True):
            another_order += _assert_top(ids, logits)
    assert another_order <= len(states) / _ONE_IN_ANOTHER_ORDER_OF


def test_attention_of_all_layers_and_heads_is_that_of_eager_attention(
    real_path: Path, client: SplitClient
) -> None:
    model = AutoModelForCausalLM.from_pretrained(
        real_path, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    for chat in chats(3, seed=1):
        reply = client.chat(
            chat, temperature=0, max_tokens=_ATTENTION_STEPS, attention=AttentionRequest()
        )
        steps = [event for event in reply.events() if isinstance(event, TokenEvent)]
        prompt = templated(real_path, chat)
        with torch.inference_mode():
            ids = torch.tensor([prompt + [step.token for step in steps]])
            layers = model(ids, output_attentions=True, use_cache=False).attentions
        for place, step in enumerate(steps, len(prompt) - 1):
            wanted = torch.stack([layer[0, :, place, : place + 1] for layer in layers]).numpy()
            assert step.attention is not None
            assert step.attention.values.shape == wanted.shape == (30, 9, place + 1)
            assert np.abs(step.attention.values - wanted).max() < 1e-5


def _passes(server: RunningServer, bound: str) -> float:
    """Passes of at most so many sessions."""
    with server.client() as http:
        text = http.get("/metrics").text
    samples = [one for family in text_string_to_metric_families(text) for one in family.samples]
    wanted = ("split_pass_sessions_bucket", bound)
    return next(s.value for s in samples if (s.name, s.labels.get("le")) == wanted)


def _states(compared: list[Forced]) -> np.ndarray:
    """Final-norm hidden states [n, H]: ten positions of each chat."""
    draw = np.random.default_rng(0)
    drawn = [one.hidden[draw.permutation(len(one.hidden))[:_STATES_OF_EACH]] for one in compared]
    return torch.cat(drawn).numpy()


def _rows(head: LMHead) -> np.ndarray:
    """Every row of the checkpoint's table in float64 [rows, H]."""
    rows, size = head.rows, 8192
    starts = range(0, rows.rows, size)
    parts = [rows.block(start, min(start + size, rows.rows)) for start in starts]
    return np.concatenate(parts, dtype=np.float64)


def _assert_top(ids: np.ndarray, logits: np.ndarray) -> bool:
    """``ids`` are the first by (-logit, id), but for logits that float32 cannot tell apart; whether
    there were such."""
    last = np.partition(logits, -_TOP)[-_TOP]
    likely = np.flatnonzero(logits >= last)
    wanted = likely[np.lexsort((likely, -logits[likely]))][:_TOP]
    assert len(set(ids.tolist())) == _TOP
    apart = np.abs(logits[ids] - logits[wanted])
    assert apart.max() <= _ROUNDING, (ids[ids != wanted], apart.max())
    return not np.array_equal(ids, wanted)
