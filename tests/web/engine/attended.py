"""What the replies of the page's engine attended to, and what they should have."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from split_client.api import AttentionRequest
from split_server.checkpoint.folder import EMBEDDED
from tests.web.engine.page import EnginePage

COUNT = 40
MESSAGES = [
    {"role": "system", "content": "Be brief, please ☺️."},
    {"role": "user", "content": "What is split inference? 👩‍🚀 naïve"},
]
ROWS = AttentionRequest(top_k=76, dtype="f16", reduce="mean")


def dense(attention: Any, length: int) -> Any:
    """The weights of all positions; those that were not told are 0."""
    row = np.zeros(length, np.float32)
    row[attention.positions.reshape(-1)] = attention.values.reshape(-1)
    return row


def eager_means(ids: list[int]) -> Any:
    """What every position attends to: the mean over layers and heads, [len(ids), len(ids)]."""
    model = AutoModelForCausalLM.from_pretrained(
        EMBEDDED, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    with torch.inference_mode():
        layers = model(torch.tensor([ids]), output_attentions=True).attentions
    return torch.stack(layers).double().mean((0, 1, 2)).numpy()


def prompt_ids() -> list[int]:
    tokenizer: Any = AutoTokenizer.from_pretrained(EMBEDDED)
    return list(
        tokenizer.apply_chat_template(MESSAGES, add_generation_prompt=True, return_dict=False)
    )


def attended(page: EnginePage, known: int = 0) -> Any:
    return page.page.evaluate("(from) => engine.attended('chat', from)", known)


def row(page: EnginePage, token: int | None) -> Any:
    """A row as the page has it."""
    values = page.page.evaluate(
        "async (token) => Array.from(await engine.attention('chat', token) ?? [])", token
    )
    return np.asarray(values, np.float32)


def same_rows(page: EnginePage, rows: list[Any]) -> None:
    told = attended(page)
    assert (told["first"], told["end"]) == (0, len(rows))
    for token, expected in enumerate(rows):
        np.testing.assert_array_equal(row(page, token), expected)
