"""Forms of replies for one model: a JSON schema, any JSON object, a regular expression, a grammar
in Lark or GBNF, a choice of texts.

The grammar library is imported when a form is first asked for.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from split_client.grammar.errors import GrammarMissing
from split_client.grammar.form import (
    JSON_FORMS,
    Choice,
    Form,
    Gbnf,
    JsonObject,
    JsonSchema,
    Lark,
    Regex,
    checked_form,
    form_of,
    grammar_form,
)

if TYPE_CHECKING:
    from split_client.grammar.compiling import FormConstraint
    from split_client.grammar.vocabulary import Vocabulary

__all__ = [
    "JSON_FORMS",
    "Choice",
    "Form",
    "Forms",
    "Gbnf",
    "JsonObject",
    "JsonSchema",
    "Lark",
    "Regex",
    "form_of",
    "grammar_form",
]

# Forms that stay compiled.
_MOST_KEPT: Final = 16
# They cost what their texts cost, whatever these are.
_PLAIN: Final = (JsonObject, Choice)


class Forms:
    """The forms of one model's vocabulary; threads may share it. Nothing is built before use."""

    def __init__(self, tokenizer_json: Callable[[], str], rows: int, eos: frozenset[int]) -> None:
        """``tokenizer_json`` reads the text of tokenizer.json; ``rows``: length of the logits.

        ``eos``: tokens that end a reply; they are allowed where a text is whole.
        """
        self._read, self._rows, self._eos = tokenizer_json, rows, eos
        self._lock = threading.RLock()
        self._built: Vocabulary | None = None
        self._kept: OrderedDict[Form, Callable[[], FormConstraint]] = OrderedDict()

    def constraint(self, form: Form) -> Callable[[], FormConstraint]:
        """The maker of a constraint for each reply of ``form``, which is compiled once.

        The first time it takes a second or so. Raises GrammarInvalid and its kinds
        (``grammar.errors``), and what reading the tokenizer raises.
        """
        with self._lock:
            make = self._kept.get(form)
            if make is None:
                make = self._kept[form] = self._compiled(checked_form(form))
                if len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(form)
            return make

    def _compiled(self, form: Form) -> Callable[[], FormConstraint]:
        _require_library()
        from split_client.grammar.compiling import compiled_form
        from split_client.grammar.matching import with_deep_stack
        from split_client.grammar.trial import Trial

        source = (self._read(), self._rows, self._eos)
        if isinstance(form, _PLAIN):
            vocabulary = self._vocabulary(source)
        else:
            trial = Trial(source, form)
            try:
                vocabulary = self._vocabulary(source)
                trial.require_passed()
            finally:
                trial.close()
        return with_deep_stack(lambda: compiled_form(vocabulary, form))

    def _vocabulary(self, source: tuple[str, int, frozenset[int]]) -> Vocabulary:
        if self._built is None:
            from split_client.grammar.vocabulary import readable_vocabulary

            self._built = readable_vocabulary(*source)
        return self._built


def _require_library() -> None:
    """Raises GrammarMissing, also where its binary does not fit this machine."""
    try:
        import llguidance  # noqa: F401
    except ImportError:
        raise GrammarMissing from None
