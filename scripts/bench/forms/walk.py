"""JSON texts through a grammar with either white space: their tokens, and which are forced."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import llguidance

from split_client.grammar.errors import GrammarInvalid
from split_client.grammar.matching import first_matcher
from split_client.grammar.vocabulary import Vocabulary

# (item, key) as ``json.dumps`` takes them.
Separators = tuple[str, str]
COMPACT: Separators = (",", ":")
SPACED: Separators = (", ", ": ")


@dataclass(frozen=True, slots=True)
class Walked:
    """``tokens`` of texts, of which ``forced`` had no alternative."""

    tokens: int
    forced: int


def matcher_of(
    vocabulary: Vocabulary, schema: dict[str, Any], separators: Separators
) -> llguidance.LLMatcher:
    """The grammar of ``schema`` with that white space."""
    item, key = separators
    grammar = llguidance.LLMatcher.grammar_from_json_schema(
        json.dumps(schema),
        overrides={"whitespace_flexible": False, "item_separator": item, "key_separator": key},
    )
    return first_matcher(vocabulary, grammar, GrammarInvalid)


def walked(
    vocabulary: Vocabulary,
    encode: Callable[[str], list[int]],
    schema: dict[str, Any],
    value: Any,
    separators: Separators,
) -> Walked:
    """``value`` written as the model's own tokenizer would, wherever nothing is forced."""
    text = json.dumps(value, ensure_ascii=False, separators=separators).encode()
    matcher, at, tokens, forced = matcher_of(vocabulary, schema, separators), 0, 0, 0
    while at < len(text):
        ahead = list(matcher.compute_ff_tokens())
        forced += len(ahead)
        step = ahead or encode(text[at:].decode())[:1]
        if not matcher.consume_tokens(step):
            raise ValueError("a text that is not of its schema")
        tokens += len(step)
        at += len(vocabulary.text(step))
    return Walked(tokens, forced)
