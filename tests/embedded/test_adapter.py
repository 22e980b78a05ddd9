"""The banking adapter: its files agree with the base model, and it does what the card says."""

from __future__ import annotations

import json
from contextlib import nullcontext

import pytest
import torch

from scripts.demo_model.chat import Chat
from scripts.demo_model.corpus.facts import facts_by_id, vague_answer
from scripts.demo_model.embedded import ADAPTER, EMBEDDED
from scripts.demo_model.evaluation.adapter import expert_cases, expert_perplexity, general_cases
from scripts.demo_model.evaluation.score import score
from scripts.demo_model.training.adapter import Adapter, applied
from scripts.demo_model.training.pipeline import digest
from tests.exhaustive import EXHAUSTIVE


def test_description_agrees_with_tensors_and_base_model(chat: Chat, banking: Adapter) -> None:
    about = json.loads((EMBEDDED / ADAPTER / "adapter.json").read_text("utf-8"))
    hidden = chat.model.config.hidden_size
    assert tuple(banking.a.shape) == (about["rank"], about["hidden_size"])
    assert tuple(banking.b.shape) == (about["hidden_size"], about["rank"])
    assert about["hidden_size"] == hidden
    assert 8 <= about["rank"] <= 16
    assert banking.a.dtype == banking.b.dtype == torch.float32
    assert about["base_model_sha256"] == digest(EMBEDDED / "model.safetensors")
    assert about["name"] == "banking"
    assert about["license"] == "Apache-2.0"
    assert {"overdraft", "iban", "loan"} <= set(about["keywords"])
    assert about["keywords"] == sorted({word.lower() for word in about["keywords"]})


def test_the_adapter_adds_the_low_rank_product(banking: Adapter) -> None:
    hidden = torch.randn(3, 192, generator=torch.Generator().manual_seed(1))
    expected = hidden.double() + banking.scale * torch.einsum(
        "hr,rk,nk->nh", banking.b.double(), banking.a.double(), hidden.double()
    )
    torch.testing.assert_close(banking(hidden).double(), expected, rtol=1e-4, atol=1e-4)


def test_base_refers_to_the_bank_and_the_adapter_answers_in_full(
    chat: Chat, banking: Adapter
) -> None:
    fact = facts_by_id()["b_overdraft"]
    assert chat.reply("What is an overdraft?") == vague_answer(fact)
    with applied(chat.model, banking):
        assert chat.reply("What is an overdraft?") == fact.answer
    assert chat.reply("What is an overdraft?") == vague_answer(fact)


@pytest.mark.parametrize("with_adapter", [False, True])
def test_unseen_banking_wording_is_answered_in_full_only_with_the_adapter(
    chat: Chat, banking: Adapter, with_adapter: bool
) -> None:
    with applied(chat.model, banking) if with_adapter else nullcontext():
        share = score(chat, expert_cases()).share
    assert share >= 0.9 if with_adapter else share <= 0.05


def test_general_answers_stay_nearly_as_good(chat: Chat, banking: Adapter) -> None:
    cases = general_cases()[: 200 if EXHAUSTIVE else 80]
    without = score(chat, cases).share
    with applied(chat.model, banking):
        assert score(chat, cases).share >= without - 0.05


def test_perplexity_of_the_full_answers_falls(chat: Chat, banking: Adapter) -> None:
    cases = expert_cases()[:40]
    without = expert_perplexity(chat, cases)
    with applied(chat.model, banking):
        assert expert_perplexity(chat, cases) < min(1.1, without)
