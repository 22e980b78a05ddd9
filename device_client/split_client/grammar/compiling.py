"""From a form to the maker of a constraint for each reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from split_client.grammar.choice import ChoiceConstraint, Choices
from split_client.grammar.constraint import JsonConstraint
from split_client.grammar.errors import FormEndless
from split_client.grammar.form import (
    Choice,
    Form,
    Gbnf,
    JsonObject,
    JsonSchema,
    Lark,
    Regex,
    checked_form,
)
from split_client.grammar.json import compiled, rules_of
from split_client.grammar.matching import first_matcher, is_forced_on
from split_client.grammar.text import TextConstraint
from split_client.grammar.vocabulary import Vocabulary
from split_client.grammar.written import library_grammar, refused

# Tokens that a grammar may force without a place to end at.
_FURTHEST: Final = 4096

FormConstraint: TypeAlias = JsonConstraint | TextConstraint | ChoiceConstraint


def compiled_form(vocabulary: Vocabulary, form: Form) -> Callable[[], FormConstraint]:
    """The maker of a constraint for each reply of ``form``.

    It recurses deeply, and neither its time nor its memory is bounded by the size of ``form``.
    Raises GrammarInvalid.
    """
    checked_form(form)
    match form:
        case JsonObject():
            return compiled(vocabulary, rules_of(None))
        case JsonSchema():
            return compiled(vocabulary, rules_of(form.schema))
        case Choice(texts=texts):
            choices = Choices(texts, vocabulary)
            return lambda: ChoiceConstraint(choices)
    return _text(vocabulary, form)


def _text(vocabulary: Vocabulary, form: Regex | Lark | Gbnf) -> Callable[[], TextConstraint]:
    matcher = first_matcher(
        vocabulary, library_grammar(form), lambda complaint: refused(form, complaint)
    )
    # The texts of an expression are finite.
    if not isinstance(form, Regex) and is_forced_on(matcher, _FURTHEST):
        raise FormEndless("its text has no end; add an alternative that ends")
    return lambda: TextConstraint(matcher.deep_copy(), vocabulary)
