"""The use that a mode leaves: how far the model's replies are from its own ones without noise.

Replies are made once by greedy decoding of clean rows, and each is forced along in every mode:
how likely its tokens still are (perplexity), how often the likeliest token is the same, and how
far the distributions are from the clean ones (KL divergence). That needs no right answers, so it
says something about every model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from split_client.audit.attacks.knowledge import PublicModel, chat_ids
from split_client.audit.device.modes import Mode
from split_client.audit.session import AllStates
from split_client.model.ends import DeviceEnds

# Positions whose distributions are in memory at once.
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Reply:
    """``prompt``: its ids; ``tokens`` of the reply, each from one of ``states`` [tokens, H]."""

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    states: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Used:
    """Sums over the ``tokens`` of a reply, in nats.

    ``nats``: of its tokens in the mode, ``divergence``: KL(clean || mode), ``same``: positions
    with the same likeliest token.
    """

    tokens: int
    nats: float
    divergence: float
    same: int


def clean_replies(
    ends: DeviceEnds, session: AllStates, requests: Sequence[str], most: int
) -> Iterator[Reply]:
    """The model's greedy replies of at most ``most`` tokens. Raises TimeUp."""
    for request in requests:
        prompt = tuple(chat_ids(ends, request))
        tokens = _greedy(ends, session, prompt, most)
        rows = ends.embedder.lookup([*prompt, *tokens[:-1]], session.dtype)
        # All at once, as in every mode: steps of other lengths round otherwise.
        yield Reply(prompt, tokens, session.run(rows, 0)[len(prompt) - 1 :])


def forced(model: PublicModel, session: AllStates, mode: Mode, reply: Reply, key: bytes) -> Used:
    """A reply forced along in ``mode``, in a conversation under ``key``. Raises TimeUp."""
    tokens = [*reply.prompt, *reply.tokens[:-1]]
    rows = mode.rows.conversation(key).rows(tokens, 0, len(tokens), session.dtype)
    states = session.run(rows, 0)[len(reply.prompt) - 1 :]
    nats, divergence, same = 0.0, 0.0, 0
    for first in range(0, len(states), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        clean = model.log_probabilities(reply.states[part])
        found = model.log_probabilities(states[part])
        ids = np.array(reply.tokens[part])
        nats -= float(found[np.arange(len(ids)), ids].sum())
        divergence += float((np.exp(clean) * (clean - found)).sum())
        same += int((clean.argmax(axis=1) == found.argmax(axis=1)).sum())
    return Used(len(reply.tokens), nats, divergence, same)


def perplexity_pairs(used: Sequence[Used]) -> NDArray[np.float64]:
    """Nats and tokens, [replies, 2]: exp of their ratio is the perplexity of the clean replies."""
    return np.array([(one.nats, one.tokens) for one in used], dtype=np.float64)


def divergence_pairs(used: Sequence[Used]) -> NDArray[np.float64]:
    """KL and tokens, [replies, 2]."""
    return np.array([(one.divergence, one.tokens) for one in used], dtype=np.float64)


def same_pairs(used: Sequence[Used]) -> NDArray[np.float64]:
    """Positions with the same likeliest token, of all, [replies, 2]."""
    return np.array([(one.same, one.tokens) for one in used], dtype=np.float64)


def _greedy(
    ends: DeviceEnds, session: AllStates, prompt: tuple[int, ...], most: int
) -> tuple[int, ...]:
    tokens: list[int] = []
    rows = ends.embedder.lookup(list(prompt), session.dtype)
    start = 0
    while True:
        state = session.run(rows, start)[-1]
        tokens.append(int(ends.head.top(np.ascontiguousarray(state), 1).ids[0]))
        if len(tokens) == most or tokens[-1] in ends.manifest.eos_token_ids:
            return tuple(tokens)
        start += len(rows)
        rows = ends.embedder.lookup(tokens[-1:], session.dtype)
