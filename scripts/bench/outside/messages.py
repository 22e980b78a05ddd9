"""The held-out messages: everyday requests, each with strings that its writer would not tell."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from scripts.bench.outside.target import Target

_FILE = Path(__file__).with_name("messages.json")


@dataclass(frozen=True, slots=True)
class Message:
    """``tokens``, and for each sensitive string the first place and the one behind its last."""

    text: str
    tokens: list[int]
    sensitive: list[tuple[int, int]]


def messages(target: Target) -> list[Message]:
    """All of them in the target's tokens."""
    return [
        _message(target, entry["text"], entry["sensitive"])
        for entry in json.loads(_FILE.read_text(encoding="utf-8"))
    ]


def _message(target: Target, text: str, sensitive: list[str]) -> Message:
    encoding = target.tokenizer.encode(text, add_special_tokens=False)
    spans = []
    for string in sensitive:
        start = text.index(string)
        places = [
            place
            for place, (first, stop) in enumerate(encoding.offsets)
            if first < start + len(string) and stop > start
        ]
        spans.append((places[0], places[-1] + 1))
    return Message(text, encoding.ids, spans)
