"""Vectors of the decode loop; their layout is described in tests/vectors/README.md.

Nothing here comes from a decode loop: model, choice, text and sessions are told again, plainly.
"""

from __future__ import annotations

from typing import Any

from scripts.vectors.decoding import replies, steered
from scripts.vectors.decoding.model import BYTES, MEMORY, head, tokenizer
from scripts.vectors.decoding.refusals import refusals
from scripts.vectors.decoding.reply import Session, reply
from scripts.vectors.decoding.turns import Case


def build() -> dict[str, Any]:
    model = {"bytes": [data.hex() for data in BYTES], "memory": list(MEMORY), "head": head()}
    return {
        "format": 1,
        "tokenizer": tokenizer(),
        "model": model,
        "cases": [_answered(case) for case in [*replies.cases(), *steered.cases()]],
        "refusals": refusals(),
    }


def _answered(case: Case) -> Case:
    session = Session(**case["session"])
    turns = [{**turn, "expected": reply(session, turn)} for turn in case["turns"]]
    return {**case, "turns": turns}
