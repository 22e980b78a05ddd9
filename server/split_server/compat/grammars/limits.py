"""Limits of a grammar's process: what a schema may cost before and while it steers a reply."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GrammarLimits:
    """``compile_cpu``: seconds of processor time until a schema is refused, with its first mask;
    ``reply_cpu``: those that a reply begins with, the schema compiled again included, to which
    each token adds ``token_cpu`` up to ``most_cpu``; ``memory``: bytes beyond those of the process
    that all of them are copies of; ``compile_seconds`` and ``step_seconds``: that
    a compilation and a token of a reply may take by the clock; ``seconds``: that a request waits
    for the first, which goes on for the next request of the same schema; ``start_seconds``: for the
    process itself.

    ``at_once``: compilations at a time, of which a principal has one; ``waiting`` for that, and
    ``waiting_per_principal``; ``kept``: outcomes that are remembered.
    """

    compile_cpu: float = 0.4
    reply_cpu: float = 0.8
    token_cpu: float = 0.03
    most_cpu: float = 2.0
    memory: int = 48 << 20
    seconds: float = 1.0
    compile_seconds: float = 10.0
    step_seconds: float = 20.0
    start_seconds: float = 60.0
    at_once: int = 2
    waiting: int = 128
    waiting_per_principal: int = 32
    kept: int = 512
