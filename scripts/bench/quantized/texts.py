"""English that the model has not written: paragraphs of the project's own pages; and questions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scripts.paths import ROOT

_PAGES = ("privacy", "audit", "lm-heads", "architecture", "choosing", "adapters")
_LEAST = 150
# Paragraphs that begin so are headings, tables, lists, pictures or code.
_NO_PROSE = ("#", "|", "!", "<", "`", ">", "-", "*", "    ")
QUESTIONS = (
    "What is the capital of France?",
    "Why is the sky blue?",
    "Write a short story about a lighthouse keeper.",
    "How do I boil an egg?",
    "Explain photosynthesis to a child.",
    "What is the difference between weather and climate?",
    "Write a haiku about autumn.",
    "Give me three reasons to learn a second language.",
    "Write a Python function that returns the sum of a list of numbers.",
    "What should I pack for a weekend in the mountains?",
    "Who was Ada Lovelace?",
    "Name the seven days of the week.",
    "What is gravity?",
    "Describe a rainy afternoon in a small harbour town.",
    "How does a bicycle stay upright?",
    "Write a polite e-mail that asks for a day off.",
)


def english(tokenizer: Any, sequences: int, length: int) -> list[list[int]]:
    """``sequences`` of ``length`` token ids each, one after the other in the pages."""
    ids = tokenizer("\n\n".join(_paragraphs()), add_special_tokens=False)["input_ids"]
    if len(ids) < sequences * length:
        raise SystemExit(f"the pages have {len(ids)} tokens; ask for fewer")
    return [ids[length * i : length * (i + 1)] for i in range(sequences)]


def prompts(tokenizer: Any) -> list[list[int]]:
    """Token ids of the questions, each in the model's chat template."""
    return [
        tokenizer.apply_chat_template(
            [{"role": "user", "content": question}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=False,
        )
        for question in QUESTIONS
    ]


def _paragraphs() -> Iterator[str]:
    for name in _PAGES:
        page = (ROOT / "docs" / f"{name}.md").read_text()
        for paragraph in re.sub(r"```.*?```", "", page, flags=re.DOTALL).split("\n\n"):
            text = paragraph.strip("\n")
            if len(text) > _LEAST and not text.startswith(_NO_PROSE):
                yield " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).split())
