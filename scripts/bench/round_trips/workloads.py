"""What is timed: a prompt, what the scripted model writes after it, and its form if it has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.bench.round_trips import texts
from scripts.bench.round_trips.scripted import Script
from split_client.model.tokenizer import ModelTokenizer

# Longer replies tell nothing more.
MOST = 500


@dataclass(frozen=True, slots=True)
class Workload:
    """``reply``: the ids that plain decoding gives; ``text``: the same where a form guides it;
    ``form``: a JSON schema.
    """

    name: str
    prompt: list[int]
    reply: list[int]
    text: str = ""
    form: dict[str, Any] | None = None


def workloads(
    tokenizer: ModelTokenizer, vocabulary: int, separators: tuple[str, str]
) -> list[Workload]:
    """All that are scripted, with the tokens of ``tokenizer``."""
    source = tokenizer.encode(texts.source())
    prompt = tokenizer.encode("Repeat this with the new numbers:\n\n") + source
    ask = tokenizer.encode
    people = texts.as_json({"people": texts.records()}, separators)
    call = texts.as_json(texts.CALL, separators)
    plain_people, plain_call = ask(people), ask(call)
    listed, booked = ask("List the members as JSON."), ask("Book the journey to Lyon.")
    prose = texts.new_prose(200 + MOST, vocabulary)
    return [
        Workload("copy with edits", prompt, texts.edited(source, vocabulary)[:MOST]),
        Workload("templated code", ask("Write a class of a person."), ask(texts.getters())[:MOST]),
        Workload("JSON, drafts alone", listed, plain_people[:MOST]),
        Workload("record list with schema", listed, plain_people, people, texts.RECORDS_SCHEMA),
        Workload("tool call with schema", booked, plain_call, call, texts.CALL_SCHEMA),
        Workload("new prose", prose[:200], prose[200:]),
    ]


def says(reply: Sequence[int]) -> Script:
    """Exactly these ids."""
    ids = list(reply)
    return lambda generated, _: ids[len(generated)]


def follows_text(text: str, tokenizer: ModelTokenizer, pieces: Sequence[bytes]) -> Script:
    """This text, in the tokens that it has from wherever a form has led: the next one of its own
    encoding, or the longest allowed one that it goes on with. ``pieces``: the bytes of each id.
    """
    data = text.encode()
    known: dict[int, int] = {}

    def next_of(at: int) -> int:
        if at not in known:
            here = at
            for token in tokenizer.encode(data[at:].decode()):
                known.setdefault(here, token)
                here += len(pieces[token])
        return known[at]

    def script(generated: Sequence[int], allowed: NDArray[np.bool_] | None) -> int:
        at = sum(len(pieces[token]) for token in generated)
        token = next_of(at)
        if allowed is None or allowed[token]:
            return token
        fitting = [
            int(one) for one in np.flatnonzero(allowed) if data.startswith(pieces[int(one)], at)
        ]
        return max((one for one in fitting if pieces[one]), key=lambda one: len(pieces[one]))

    return script
