"""JSON grammars: replies that are JSON texts of a schema, with the library llguidance.

Between tokens of JSON is the white space that ``json.dumps`` writes and no other, so that a model
cannot idle in it, and properties come in the order of the schema. See docs of llguidance for the
keywords; a schema with one that it cannot enforce is refused rather than enforced in part.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import llguidance

from split_client.grammar.constraint import JsonConstraint
from split_client.grammar.errors import FormEndless, GrammarInvalid
from split_client.grammar.keywords import ITEM_SEPARATOR, KEY_SEPARATOR
from split_client.grammar.matching import first_matcher
from split_client.grammar.multiples import check_multiples
from split_client.grammar.schema import checked
from split_client.grammar.sizes import endless, jumps_of
from split_client.grammar.vocabulary import Vocabulary

_ANY_OBJECT: Final[dict[str, Any]] = {"type": "object"}


def rules_of(schema: dict[str, Any] | None) -> dict[str, Any]:
    """``schema`` once it is checked; None: any JSON object. Raises GrammarInvalid."""
    if schema is None:
        return _ANY_OBJECT
    rules = checked(schema)
    check_multiples(rules)
    if endless(rules):
        raise FormEndless("every value of it contains another one; let some end, with null or []")
    return rules


def compiled(vocabulary: Vocabulary, rules: dict[str, Any]) -> Callable[[], JsonConstraint]:
    """The maker of a constraint for each reply, from the ``rules`` of a checked schema.

    It recurses deeply, and neither its time nor its memory is bounded by the size of ``rules``.
    Raises GrammarInvalid.
    """
    grammar = llguidance.LLMatcher.grammar_from_json_schema(
        json.dumps(rules),
        overrides={
            "whitespace_flexible": False,
            "item_separator": ITEM_SEPARATOR,
            "key_separator": KEY_SEPARATOR,
            "lenient": False,
            "coerce_one_of": False,
        },
    )
    matcher = first_matcher(vocabulary, grammar, GrammarInvalid)
    jumps = jumps_of(rules)
    return lambda: JsonConstraint(matcher.deep_copy(), vocabulary, jumps)
