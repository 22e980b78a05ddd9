"""Errors of forms that a reply is to have::

    GrammarInvalid          invalid_schema     a JSON schema that cannot be enforced
    ├── FormInvalid         form_invalid       a regex, grammar or choice that cannot be followed
    ├── FormImpossible      form_impossible    no text has the form
    ├── FormEndless         form_endless       no text of the form ends
    ├── FormTooCostly       form_too_costly    it needs more time or memory than a form may
    ├── TokenizerUnreadable form_tokenizer     the library cannot read the model's tokenizer
    └── GrammarMissing      grammar_missing    the library is not installed

They can travel: the server's APIs refuse strangers' schemas with them.
"""

from __future__ import annotations

from typing import Final

from split_wire.errors import SplitError

_MAX_REASON: Final = 300


class GrammarInvalid(SplitError):
    """A form that cannot be enforced, a JSON schema for one; ``reason`` says why, in one line."""

    code = "invalid_schema"
    _what = "JSON schema"

    def __init__(self, reason: str) -> None:
        self.reason = " ".join(reason.split())[:_MAX_REASON]
        super().__init__(f"{self._what} refused: {self.reason}")


class FormInvalid(GrammarInvalid):
    """A regular expression, a grammar or a choice that cannot be read or followed."""

    code = "form_invalid"
    _what = "form"


class FormImpossible(FormInvalid):
    """A form that no text has."""

    code = "form_impossible"


class FormEndless(FormInvalid):
    """A form whose texts have no end."""

    code = "form_endless"


class FormTooCostly(FormInvalid):
    """A form that needs more time or memory than one may."""

    code = "form_too_costly"


class TokenizerUnreadable(FormInvalid):
    """A tokenizer that the grammar library cannot read."""

    code = "form_tokenizer"


class GrammarMissing(FormInvalid):
    """The grammar library is not there."""

    code = "grammar_missing"

    def __init__(self) -> None:
        super().__init__("it needs the package llguidance; pip install 'gatelink[grammar]'")


_KINDS: Final = (
    GrammarInvalid, FormInvalid, FormImpossible, FormEndless, FormTooCostly, TokenizerUnreadable,
)  # fmt: skip
_BY_CODE: Final = {kind.code: kind for kind in _KINDS}


def refusal(code: str, reason: str) -> GrammarInvalid:
    """The error that another process told by its ``code`` and ``reason``."""
    return _BY_CODE.get(code, GrammarInvalid)(reason)
