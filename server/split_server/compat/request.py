"""A request to the decode loop beside the engine, whatever API it came by."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from split_client.generation.constraint import Constraint
from split_client.generation.sampling.params import SamplingParams
from split_server.compat.keeping import USUAL, Keeping
from split_wire.attention import AttentionRequest


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """Continue ``prompt`` by at most ``max_tokens``.

    ``stop_tokens`` end the reply as the model's own end tokens do, which ``ignore_eos`` takes out;
    ``stops``: strings before which the text ends. ``attention`` and ``logprobs`` (how many of the
    most likely): what the event of each token brings. ``keeping``: what becomes of its keys
    and values. ``constraint`` makes the grammar's state, on the generation's thread, which leaves
    its context at the end. ``expected``: ids that the reply is thought to be, but for differences;
    which it is does not depend on them. ``min_tokens``: none that ends the reply comes before so
    many others. ``question``: the message that the prompt ends with, where it is known, which is
    computed whatever else is moved; ``texts``: tokens of parts of messages, of which some may be
    known, and ``asked``: the last part of that message.
    """

    prompt: tuple[int, ...]
    params: SamplingParams
    max_tokens: int
    stop_tokens: frozenset[int] = frozenset()
    ignore_eos: bool = False
    stops: tuple[str, ...] = ()
    attention: AttentionRequest | None = None
    logprobs: int | None = None
    keeping: Keeping = USUAL
    constraint: Callable[[], AbstractContextManager[Constraint]] | None = None
    expected: tuple[int, ...] = ()
    min_tokens: int = 0
    question: str = ""
    texts: tuple[tuple[int, ...], ...] = ()
    asked: str = ""
