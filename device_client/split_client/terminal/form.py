"""The form that a reply is to have, from flags and from ``/form``."""

from __future__ import annotations

import argparse

from split_client.chat.reply import Reply
from split_client.errors import ReplyCut
from split_client.grammar.errors import FormInvalid, GrammarInvalid
from split_client.grammar.form import (
    Choice,
    Form,
    Gbnf,
    JsonObject,
    JsonSchema,
    Lark,
    Regex,
    checked_form,
    grammar_form,
)
from split_client.grammar.keywords import MOST_BYTES
from split_client.owner_file import reason
from split_client.terminal.errors import InputNotText
from split_client.terminal.output.screen import Screen
from split_client.terminal.paths import expanded
from split_files import read_regular

_BY_SUFFIX: dict[str, type[Lark | Gbnf]] = {".lark": Lark, ".gbnf": Gbnf}


def form_from(options: argparse.Namespace) -> Form | None:
    """The form that flags name. Raises GrammarInvalid, InputNotText, SettingInvalid."""
    if options.json_schema is not None:
        return schema_in(options.json_schema)
    if options.json_object:
        return JsonObject()
    if options.regex is not None:
        return checked_form(Regex(options.regex))
    if options.grammar is not None:
        return grammar_in(options.grammar)
    if options.choice is not None:
        return checked_form(Choice(tuple(options.choice)))
    return None


def schema_in(path: str) -> JsonSchema:
    """The JSON schema in the file at ``path``, as far as it can be read without the library.

    Raises GrammarInvalid, with line and column of what is no JSON; InputNotText, SettingInvalid.
    """
    form = JsonSchema(_text_of(path, GrammarInvalid))
    if not isinstance(form.schema, dict):
        raise GrammarInvalid("it is not an object")
    return form


def grammar_in(path: str) -> Form:
    """The grammar in the file at ``path``: Lark or GBNF by its suffix, else by what is in it.

    Raises FormInvalid, InputNotText, SettingInvalid.
    """
    text = _text_of(path, FormInvalid)
    kind = _BY_SUFFIX.get(expanded(path).suffix.lower())
    return checked_form(grammar_form(text) if kind is None else kind(text))


def described(form: Form) -> str:
    """``form`` in a few words."""
    match form:
        case JsonSchema():
            return "JSON of a schema"
        case JsonObject():
            return "a JSON object"
        case Regex(pattern=pattern):
            return f"what matches {pattern[:60]!r}"
        case Choice(texts=texts):
            return f"one of {len(texts)} texts" if len(texts) > 1 else "one text"
    return "a text of a grammar"


def note_cut(reply: Reply, screen: Screen) -> None:
    """Say so where a reply with a form ended before it was whole."""
    if reply.formed is None or not reply.token_ids:
        return
    try:
        reply.formed.value(reply.text, reply.finish_reason)
    except ReplyCut as cut:
        screen.note(str(cut))


def _text_of(path: str, refused: type[GrammarInvalid]) -> str:
    name = expanded(path)
    try:
        data = read_regular(name, MOST_BYTES)
    except OSError as error:
        raise refused(f"{name}: {reason(error)}; at most {MOST_BYTES >> 10} kB are read") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputNotText(str(name), error.start) from None
