"""A tiny model that was taught a conversation by heart: it calls a tool of its own accord."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.checkpoints import tiny_checkpoint

TEMPLATE = (
    "{% if tools %}<|im_start|>system\n{% for tool in tools %}{{ tool.function | tojson }}\n"
    "{% endfor %}<|im_end|>\n{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
    "{% for call in m.tool_calls %}{% set f = call.function %}<tool_call>\n"
    '{"name": {{ f.name | tojson }}, "arguments": {{ f.arguments | tojson }}}'
    "\n</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# Every client writes a tool's definition in its own way; the name is the same.
NAMES_ALONE = TEMPLATE.replace("{{ tool.function | tojson }}", "{{ tool.function.name }}")
QUESTION = "How much is there?"
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "balance",
        "description": "The balance.",
        "parameters": {
            "type": "object",
            "properties": {"account": {"type": "string"}},
            "required": ["account"],
            "additionalProperties": False,
        },
    },
}
ARGUMENTS = {"account": "Köln"}
RESULT = "12.50"
ANSWER = "There are 12.50 left."
_CALL = {"name": "balance", "arguments": ARGUMENTS}
_STEPS = 400
_GOOD = 0.02


def taught_checkpoint(path: Path, template: str = TEMPLATE) -> Path:
    """Asked QUESTION with TOOL, the model calls it; told RESULT, it says ANSWER."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tiny_checkpoint("qwen2", path, max_position_embeddings=2048, initializer_range=0.05)
    tokenizer = AutoTokenizer.from_pretrained(path)
    tokenizer.chat_template = template
    tokenizer.save_pretrained(path)
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).train()
    lessons = _lessons(tokenizer)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        for _ in range(_STEPS):
            losses = [model(input_ids=ids, labels=labels).loss for ids, labels in lessons]
            optimizer.zero_grad()
            torch.stack(losses).sum().backward()
            optimizer.step()
            if max(loss.item() for loss in losses) < _GOOD:
                break
        else:
            raise AssertionError("the lessons were not learned")
    model.eval().save_pretrained(path)
    return path


def _lessons(tokenizer: Any) -> list[tuple[Any, Any]]:
    """Ids and labels of each reply; a prompt is not learned."""
    import torch

    question = {"role": "user", "content": QUESTION}
    call = {"role": "assistant", "content": "", "tool_calls": [{"function": _CALL}]}
    result = {"role": "tool", "content": RESULT}
    said = f"<tool_call>\n{json.dumps(_CALL, ensure_ascii=False)}\n</tool_call>"
    lessons = []
    for messages, reply in (([question], said), ([question, call, result], ANSWER)):
        prompt = tokenizer.apply_chat_template(
            messages, tools=[TOOL], add_generation_prompt=True, tokenize=False
        )
        before = tokenizer.encode(prompt, add_special_tokens=False)
        after = tokenizer.encode(reply + "<|im_end|>", add_special_tokens=False)
        ids = torch.tensor([before + after])
        labels = torch.tensor([[-100] * len(before) + after])
        lessons.append((ids, labels))
    return lessons
