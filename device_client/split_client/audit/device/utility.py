"""The utility that a mode leaves: held-out answers, their perplexity and exactness.

Answers are forced token by token. Greedy decoding gives exactly the right answer where, and only
where, every one of its tokens is the likeliest after those before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import PublicModel, chat_ids
from split_client.audit.device.modes import Mode
from split_client.audit.device.prompts import Question
from split_client.audit.device.rows import audit_key
from split_client.audit.session import AllStates
from split_client.model.ends import DeviceEnds


@dataclass(frozen=True, slots=True)
class Answered:
    """One question: nats and count of its answer's tokens, whether greedy decoding gives it."""

    nats: float
    tokens: int
    exact: bool


def answer(
    ends: DeviceEnds,
    model: PublicModel,
    session: AllStates,
    mode: Mode,
    questions: Sequence[Question],
    seed: int,
) -> list[Answered]:
    """Ask ``questions`` in ``mode``, each in a conversation of its own."""
    found = []
    for number, one in enumerate(questions):
        ids, reply = _tokens(ends, one)
        rows = mode.rows.conversation(audit_key(seed, "utility", mode.name, number))
        tokens = ids + reply[:-1]
        states = session.run(rows.rows(tokens, 0, len(tokens), session.dtype), 0)
        found.append(_judged(model, states[len(ids) - 1 :], reply, ends.manifest.eos_token_ids))
    return found


def perplexity_pairs(answers: Sequence[Answered]) -> NDArray[np.float64]:
    """Nats and tokens, [questions, 2]: exp of their ratio is the perplexity."""
    return np.array([(one.nats, one.tokens) for one in answers], dtype=np.float64)


def accuracy_pairs(answers: Sequence[Answered]) -> NDArray[np.float64]:
    """Exact answers, [questions, 2]."""
    return np.array([(one.exact, 1) for one in answers], dtype=np.float64)


def _tokens(ends: DeviceEnds, question: Question) -> tuple[list[int], list[int]]:
    reply = ends.tokenizer.encode(question.answer)
    return chat_ids(ends, question.question), [*reply, min(ends.manifest.eos_token_ids, default=0)]


def _judged(
    model: PublicModel, states: NDArray[np.float32], reply: list[int], ends: frozenset[int]
) -> Answered:
    nats, exact = 0.0, True
    for place, (state, token) in enumerate(zip(states, reply, strict=True)):
        scores = model.log_probabilities(state)
        # A reply may end with any of the model's closing tokens.
        right = sorted(ends) if ends and place == len(reply) - 1 else [token]
        nats -= float(np.logaddexp.reduce(scores[right]))
        exact &= int(np.argmax(scores)) in right
    return Answered(nats, len(reply), exact)
