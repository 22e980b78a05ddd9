"""Interleaved rounds of one generation without attention and with it, in both forms."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from scripts.bench.workers import Worker

_FORMS = ("plain", "binary", "events")


@dataclass(frozen=True, slots=True)
class Cost:
    """Per token: milliseconds on the clock, of the server's processors, and bytes received."""

    ms: float
    cpu_ms: float
    size: float

    @staticmethod
    def between(reply: dict[str, Any], last: int) -> Cost:
        """From the first token of a reply to its token ``last``."""
        stamps, processor = reply["stamps"], reply["processor"]
        clock = stamps[last] - stamps[0]
        busy = processor[str(last)] - processor["0"]
        return Cost(1e3 * clock / last, 1e3 * busy / last, reply["bytes"])


@dataclass(frozen=True, slots=True)
class Round:
    """``plain`` and ``binary`` over all tokens; ``events`` has fewer, and ``plain_events`` is the
    reply without attention over as many.
    """

    plain: Cost
    binary: Cost
    plain_events: Cost
    events: Cost


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens of a reply, and of one over server-sent events."""

    tokens: int
    events: int


def prompt_ids(context: int, model: dict[str, Any]) -> list[int]:
    """Seeded ids of a prompt, without those that end a reply."""
    ends = set(model["eos_token_ids"])
    ids = [token for token in range(model["vocab_size"]) if token not in ends]
    return random.Random(context).choices(ids, k=context)


def measured(
    client: Worker, ids: list[int], lengths: Lengths, rounds: int, exact: bool
) -> list[Round]:
    """The rounds. With ``exact`` ends the program when a reply has other tokens than the first one.

    The first reply says which tokens and is not counted; every form comes first in turn.
    """
    expected = _reply(client, "plain", ids, lengths)["ids"]
    done = []
    for number in range(rounds):
        turn = number % len(_FORMS)
        order = _FORMS[turn:] + _FORMS[:turn]
        replies = {form: _reply(client, form, ids, lengths) for form in order}
        for form, reply in replies.items():
            if exact and reply["ids"] != expected[: len(reply["ids"])]:
                raise SystemExit(f"{form}: other tokens than without attention")
        done.append(_round(replies, lengths))
    return done


def _reply(client: Worker, form: str, ids: list[int], lengths: Lengths) -> dict[str, Any]:
    tokens = lengths.events if form == "events" else lengths.tokens
    marks = [0, lengths.events - 1, lengths.tokens - 1]
    return client.ask(op="generate", form=form, ids=ids, tokens=tokens, marks=marks)


def _round(replies: dict[str, dict[str, Any]], lengths: Lengths) -> Round:
    last, early = lengths.tokens - 1, lengths.events - 1
    return Round(
        Cost.between(replies["plain"], last),
        Cost.between(replies["binary"], last),
        Cost.between(replies["plain"], early),
        Cost.between(replies["events"], early),
    )
