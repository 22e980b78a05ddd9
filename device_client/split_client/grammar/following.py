"""What a grammar's matcher tells of the tokens that follow, without moving it."""

from __future__ import annotations

from collections.abc import Sequence

import llguidance


def forced_tokens(matcher: llguidance.LLMatcher, most: int) -> list[int]:
    """At most ``most`` tokens of which each is the only one in its mask.

    The library tokenizes the bytes that it forces as the model's tokenizer would, leaves out the
    end of them that later bytes could still change, and has masks of those tokens alone.
    """
    if most < 1 or matcher.is_stopped():
        return []
    return list(matcher.compute_ff_tokens()[:most])


def permitted_tokens(matcher: llguidance.LLMatcher, tokens: Sequence[int]) -> int:
    """How many of the first of ``tokens`` masks would allow one after the other."""
    copy = matcher.deep_copy()
    for count, token in enumerate(tokens):
        if copy.is_stopped():
            return count
        forced = copy.compute_ff_tokens()
        if forced and forced[0] != token:
            return count
        if copy.validate_tokens([token]) < 1 or not copy.consume_token(token):
            return count
    return len(tokens)
