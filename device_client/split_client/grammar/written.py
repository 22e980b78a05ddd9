"""Regular expressions and grammars as people write them, for the grammar library; its complaints
about them in one line.
"""

from __future__ import annotations

import re
from typing import Final

import llguidance

from split_client.grammar.errors import FormInvalid
from split_client.grammar.form import Gbnf, Lark, Regex

_AT: Final = re.compile(r"^(?:at )?(\d+)\((\d+)\): (.*)$", re.DOTALL)
_REGEX_ERROR: Final = re.compile(r"^error: (.*)$", re.MULTILINE)
_GBNF_ERROR: Final = re.compile(r"^(.*?) at line (\d+),", re.DOTALL)


def library_grammar(form: Regex | Lark | Gbnf) -> str:
    """``form`` as the library takes it. Raises FormInvalid."""
    match form:
        case Regex(pattern=pattern):
            return llguidance.LLMatcher.grammar_from_regex(pattern)
        case Lark(text=text):
            return llguidance.LLMatcher.grammar_from_lark(text)
    return llguidance.LLMatcher.grammar_from_lark(_lark_of(form.text))


def refused(form: Regex | Lark | Gbnf, complaint: str) -> FormInvalid:
    """The error for what the library says of ``form``."""
    found = _AT.match(complaint)
    said = complaint if found is None else found.group(3)
    error = _REGEX_ERROR.search(said)
    reason = error.group(1) if error else said.partition("\n")[0]
    if isinstance(form, Regex):
        if "lookaround" in said:
            reason = "look-around, \\b included, is not supported"
        return FormInvalid(f"the regular expression cannot be followed: {reason}")
    if isinstance(form, Gbnf) or found is None:
        # Lines are those of what was made of it.
        return FormInvalid(f"the grammar cannot be followed: {reason}")
    return FormInvalid(f"the grammar's line {found.group(1)}, column {found.group(2)}: {reason}")


def _lark_of(text: str) -> str:
    from llguidance.gbnf_to_lark import gbnf_to_lark

    try:
        return gbnf_to_lark(text)
    except RecursionError:
        raise FormInvalid("the grammar is nested too deeply") from None
    # The library's converter raises its own kind for what it tells, and others for the rest.
    except Exception as error:  # noqa: BLE001
        found = _GBNF_ERROR.match(str(error))
        if found is None:
            raise FormInvalid("the grammar is not GBNF that can be read") from None
        raise FormInvalid(f"the grammar's line {found.group(2)}: {found.group(1)}") from None
