"""JSON grammars: replies that are JSON texts of a schema, with the library llguidance.

Texts are compact (no white space between tokens of JSON), so that a model cannot idle in it, and
properties come in the order of the schema. See docs of llguidance for the keywords; a schema with
one that it cannot enforce is refused rather than enforced in part.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

import llguidance

from split_client.generation.constraint import Constraint
from split_client.grammar.constraint import JsonConstraint
from split_client.grammar.multiples import check_multiples
from split_client.grammar.schema import GrammarInvalid, checked
from split_client.grammar.sizes import jumps_of
from split_client.grammar.vocabulary import Vocabulary

__all__ = ["GrammarInvalid", "JsonGrammars", "compiled", "rules_of"]

_T = TypeVar("_T")
_ANY_OBJECT: Final[dict[str, Any]] = {"type": "object"}
# Of the parser, for one byte of a text: enough for the properties that a schema has room for.
_MAX_ITEMS: Final = 50_000
# The library compiles by recursion; the main thread's usual 8 MB hold some 300 nested objects.
_STACK_BYTES: Final = 128 * 2**20
_STACK_LOCK: Final = threading.Lock()


class JsonGrammars:
    """The grammars of one model's vocabulary; threads may share it. Nothing is built before use."""

    def __init__(self, tokenizer_json: str, rows: int, eos: frozenset[int]) -> None:
        """``tokenizer_json``: the text of tokenizer.json; ``rows``: length of the model's logits.

        ``eos``: tokens that end a reply; they are allowed where a text is whole.
        """
        self._source = (tokenizer_json, rows, eos)
        self._lock = threading.Lock()
        self._built: Vocabulary | None = None

    def schema(self, schema: dict[str, Any] | None) -> Callable[[], Constraint]:
        """The maker of a constraint for each reply; None: any JSON object.

        Raises GrammarInvalid.
        """
        rules = rules_of(schema)
        vocabulary = self._vocabulary()
        return _with_deep_stack(lambda: compiled(vocabulary, rules))

    def _vocabulary(self) -> Vocabulary:
        with self._lock:
            if self._built is None:
                try:
                    self._built = Vocabulary(*self._source)
                except ValueError as error:
                    reason = f"the grammar library cannot read this model's tokenizer ({error})"
                    raise GrammarInvalid(reason) from error
            return self._built


def rules_of(schema: dict[str, Any] | None) -> dict[str, Any]:
    """``schema`` once it is checked; None: any JSON object. Raises GrammarInvalid."""
    if schema is None:
        return _ANY_OBJECT
    rules = checked(schema)
    check_multiples(rules)
    return rules


def compiled(vocabulary: Vocabulary, rules: dict[str, Any]) -> Callable[[], JsonConstraint]:
    """The maker of a constraint for each reply, from the ``rules`` of a checked schema.

    It recurses deeply, and neither its time nor its memory is bounded by the size of ``rules``.
    Raises GrammarInvalid.
    """
    matcher = _matcher(vocabulary, rules)
    jumps = jumps_of(rules)
    return lambda: JsonConstraint(matcher.deep_copy(), vocabulary, jumps)


def _matcher(vocabulary: Vocabulary, rules: dict[str, Any]) -> llguidance.LLMatcher:
    text = json.dumps(rules)
    grammar = llguidance.LLMatcher.grammar_from_json_schema(
        text, overrides={"whitespace_flexible": False, "lenient": False, "coerce_one_of": False}
    )
    limits = llguidance.LLParserLimits(
        max_items_in_row=_MAX_ITEMS, step_max_items=4 * _MAX_ITEMS, verbose_errors=False
    )
    matcher = llguidance.LLMatcher(vocabulary.tokenizer, grammar, log_level=0, limits=limits)
    if matcher.is_error():
        raise GrammarInvalid(matcher.get_error())
    beginning = matcher.deep_copy()
    beginning.compute_bitmask()
    if beginning.is_error():
        reason = beginning.get_error()
        raise GrammarInvalid("no text satisfies it" if "NoExtension" in reason else reason)
    return matcher


def _with_deep_stack(work: Callable[[], _T]) -> _T:
    """Return or raise what ``work`` does on a thread of its own, with room for recursion."""
    with ThreadPoolExecutor(1) as pool, _STACK_LOCK:
        usual = threading.stack_size(_STACK_BYTES)
        try:
            result = pool.submit(work)
        finally:
            threading.stack_size(usual)
    return result.result()
