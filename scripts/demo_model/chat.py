"""Greedy chat with a checkpoint through plain transformers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from split_server.engine.linears.quantize import quantize_linears

Messages = list[dict[str, str]]


class Chat:
    """A checkpoint in float32 with batched greedy generation.

    ``quantize``: none, or int8 for the layers that a server would quantize.
    """

    def __init__(self, folder: Path, batch: int = 48, quantize: str = "none") -> None:
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        if quantize == "int8":
            quantize_linears(self.model.get_decoder())
        self._batch = batch

    def replies(self, chats: Sequence[Messages], max_new_tokens: int = 110) -> list[str]:
        """One reply for each conversation, in order."""
        prompts = [
            self.tokenizer.apply_chat_template(
                chat, add_generation_prompt=True, tokenize=True, return_dict=False
            )
            for chat in chats
        ]
        order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
        texts = [""] * len(prompts)
        for begin in range(0, len(order), self._batch):
            places = order[begin : begin + self._batch]
            made = self._generate([prompts[i] for i in places], max_new_tokens)
            for place, text in zip(places, made, strict=True):
                texts[place] = text
        return texts

    def reply(self, question: str) -> str:
        """The answer to a single question."""
        return self.replies([[{"role": "user", "content": question}]])[0]

    @torch.inference_mode()
    def _generate(self, prompts: list[list[int]], max_new_tokens: int) -> list[str]:
        width = max(len(prompt) for prompt in prompts)
        pad = self.tokenizer.pad_token_id
        ids = torch.tensor([[pad] * (width - len(p)) + p for p in prompts])
        mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])
        out = self.model.generate(
            input_ids=ids, attention_mask=mask, max_new_tokens=max_new_tokens, do_sample=False
        )
        texts: list[str] = self.tokenizer.batch_decode(out[:, width:], skip_special_tokens=True)
        return texts
