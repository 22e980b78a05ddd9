"""The measured effect of the banking adapter: with and without it, banking and general."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from random import Random

import torch
from torch import nn

from scripts.demo_model.chat import Chat
from scripts.demo_model.corpus.examples import Encoder
from scripts.demo_model.corpus.facts import facts_by_id
from scripts.demo_model.corpus.facts import vague_answer as vague
from scripts.demo_model.evaluation.cases import Case, held_out_cases
from scripts.demo_model.evaluation.score import score
from scripts.demo_model.training.adapter import Adapter, applied
from scripts.demo_model.training.loop import collate

GENERAL_CASES = 300
DIALS = (0.25, 0.5, 0.75, 1.0, 1.5)


def expert_cases() -> list[Case]:
    """Held-out banking questions whose right answer is the full one."""
    full = {vague(fact): fact.answer for fact in facts_by_id().values() if fact.topic == "banking"}
    cases = [c for c in held_out_cases() if c.topic == "banking" and c.kind != "fourth turn"]
    return [replace(case, expected=(full[case.expected[0]],)) for case in cases]


def general_cases() -> list[Case]:
    """A sample of the other held-out questions."""
    cases = [case for case in held_out_cases() if case.topic != "banking"]
    return Random(3).sample(cases, min(GENERAL_CASES, len(cases)))


@torch.inference_mode()
def expert_perplexity(chat: Chat, cases: list[Case]) -> float:
    """Perplexity per token of the full answers after their questions."""
    encoder = Encoder(chat.tokenizer.backend_tokenizer)
    total, count = 0.0, 0
    for case in cases:
        whole = replace(case.chat, turns=[(case.question, case.expected[0])])
        ids, weights = collate([encoder.conversation(whole)])
        used = weights[:, 1:] == 1.0
        logits = chat.model(input_ids=ids).logits[:, :-1][used]
        total += nn.functional.cross_entropy(logits, ids[:, 1:][used], reduction="sum").item()
        count += int(used.sum())
    return float(torch.tensor(total / count).exp())


def measure(chat: Chat, adapter: Adapter) -> dict[str, object]:
    """Percent right and perplexity without the adapter, with it, and along the dial."""
    banking, general = expert_cases(), general_cases()
    result: dict[str, object] = {"banking cases": len(banking), "general cases": len(general)}
    for name, context in (("without", nullcontext()), ("with", applied(chat.model, adapter))):
        with context:
            result[name] = {
                "banking percent": round(100 * score(chat, banking).share, 1),
                "general percent": round(100 * score(chat, general).share, 1),
                "banking perplexity": round(expert_perplexity(chat, banking), 3),
            }
    dial = {}
    for factor in DIALS:
        with applied(chat.model, Adapter(adapter.a, adapter.b, adapter.scale * factor)):
            dial[str(factor)] = round(100 * score(chat, banking).share, 1)
    result["banking percent by scale"] = dial
    return result
