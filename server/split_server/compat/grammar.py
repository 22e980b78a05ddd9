"""JSON grammars: replies that are JSON texts of a schema, with the library llguidance.

Texts are compact (no white space between tokens of JSON), so that a model cannot idle in it, and
properties come in the order of the schema. See docs of llguidance for the keywords; a schema with
one that it cannot enforce is refused rather than enforced in part.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any, Final

import llguidance

from split_client.generation.constraint import Constraint
from split_server.compat.grammar_constraint import JsonConstraint
from split_server.compat.grammar_sizes import TooEntangled, jumps_of
from split_server.compat.grammar_vocabulary import Vocabulary
from split_wire.errors import SplitError

MAX_SCHEMA_BYTES: Final = 256 * 1024
MAX_SCHEMA_DEPTH: Final = 64
_ANY_OBJECT: Final[dict[str, Any]] = {"type": "object"}
_MAX_REASON: Final = 300


class GrammarInvalid(SplitError):
    """A JSON schema that cannot be enforced; ``reason`` says why."""

    code = "invalid_schema"

    def __init__(self, reason: str) -> None:
        self.reason = reason[:_MAX_REASON]
        super().__init__(f"JSON schema refused: {self.reason}")


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
        """What makes a constraint for each reply; None: any JSON object.

        Raises GrammarInvalid.
        """
        rules = _ANY_OBJECT if schema is None else _checked(schema)
        vocabulary = self._vocabulary()
        matcher = _compiled(vocabulary, rules)
        try:
            jumps = jumps_of(rules)
        except (TooEntangled, RecursionError):
            raise GrammarInvalid("its references are too entangled; use fewer") from None
        return lambda: JsonConstraint(matcher.deep_copy(), vocabulary, jumps)

    def _vocabulary(self) -> Vocabulary:
        with self._lock:
            if self._built is None:
                try:
                    self._built = Vocabulary(*self._source)
                except ValueError as error:
                    reason = f"the grammar library cannot read this model's tokenizer ({error})"
                    raise GrammarInvalid(reason) from error
            return self._built


def _checked(schema: dict[str, Any]) -> dict[str, Any]:
    """``schema`` without the library's own options. Raises GrammarInvalid."""
    if not isinstance(schema, dict):
        raise GrammarInvalid("it is not an object")
    if _depth_exceeds(schema, MAX_SCHEMA_DEPTH):
        raise GrammarInvalid(f"it is nested deeper than {MAX_SCHEMA_DEPTH}")
    rules = {key: value for key, value in schema.items() if key != "x-guidance"}
    try:
        size = len(json.dumps(rules, allow_nan=False))
    except (TypeError, ValueError):
        raise GrammarInvalid("it is not JSON") from None
    if size > MAX_SCHEMA_BYTES:
        raise GrammarInvalid(f"it has {size} bytes, more than {MAX_SCHEMA_BYTES}")
    _check_countable(rules)
    return rules


def _depth_exceeds(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _check_countable(rules: dict[str, Any]) -> None:
    """The library counts repeated keys of a map as several properties, validators as one."""
    waiting: list[Any] = [rules]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            least, required = value.get("minProperties"), value.get("required")
            count = len(required) if isinstance(required, list) else 0
            if isinstance(least, int) and least > max(1, count):
                raise GrammarInvalid("minProperties above 1 needs as many required properties")
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _compiled(vocabulary: Vocabulary, rules: dict[str, Any]) -> llguidance.LLMatcher:
    text = json.dumps(rules)
    grammar = llguidance.LLMatcher.grammar_from_json_schema(
        text, overrides={"whitespace_flexible": False, "lenient": False, "coerce_one_of": False}
    )
    limits = llguidance.LLParserLimits(max_grammar_size=200_000, verbose_errors=False)
    matcher = llguidance.LLMatcher(vocabulary.tokenizer, grammar, log_level=0, limits=limits)
    if matcher.is_error():
        raise GrammarInvalid(matcher.get_error() or "the grammar library refuses it")
    return matcher
