"""Seeded chats of different lengths, and how to ask each kind of client for their replies."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["openai", "kobold socket", "kobold events", "split"]
KINDS: tuple[Kind, ...] = ("openai", "kobold socket", "kobold events", "split")
_WORDS = (
    *("server", "device", "cache", "token", "prompt", "layer", "head", "row", "model", "step"),
    *("queue", "frame", "socket", "stream", "reply", "memory", "thread", "answer", "question"),
    *("the", "a", "of", "and", "in", "to", "is", "that", "with", "for", "as", "on", "at", "by"),
)
_QUESTIONS = (
    "What is split inference?",
    "Tell me a short story about a lighthouse.",
    "How does a cache help?",
    "Write a list of five animals.",
    "Why is the sky blue?",
    "Explain what a token is.",
)
# Words before the question: most chats are short, a few are long.
_LONGEST_HISTORY = 600


@dataclass(frozen=True, slots=True)
class Prompt:
    """A chat whose last message is the user's; ``ids``: what its template makes of it."""

    messages: tuple[dict[str, str], ...]
    ids: tuple[int, ...] = ()


def chats(count: int, seed: int) -> list[list[dict[str, str]]]:
    """``count`` lists of messages."""
    rng = random.Random(f"chats/{seed}")
    return [_chat(rng, number) for number in range(count)]


def _chat(rng: random.Random, number: int) -> list[dict[str, str]]:
    words = round(_LONGEST_HISTORY ** rng.random())
    question = _QUESTIONS[number % len(_QUESTIONS)]
    system = f"Chat {number}. {_prose(rng, words)}"
    return [{"role": "system", "content": system}, {"role": "user", "content": question}]


def _prose(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(_WORDS, k=words)) + "."


def prompts_of(chats: Sequence[Sequence[dict[str, str]]], ids: Sequence[list[int]]) -> list[Prompt]:
    """Chats with their ids."""
    return [Prompt(tuple(chat), tuple(own)) for chat, own in zip(chats, ids, strict=True)]
