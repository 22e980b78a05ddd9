"""Which form the reply must have: ``response_format``, and the ``guided_`` fields of vLLM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from split_client.grammar.form import Choice, Form, JsonObject, JsonSchema, Regex, grammar_form
from split_client.grammar.keywords import MOST_BYTES, MOST_CHOICES
from split_server.compat.accepted.openai import FORM, SPACES
from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields, as_text, check_unread
from split_server.compat.openai.tools import MAX_SCHEMA

_KINDS: Final = ("text", "json_object", "json_schema")


@dataclass(frozen=True, slots=True)
class AskedForm:
    """The form of a reply; ``param``: where it was asked for."""

    form: Form
    param: str = "response_format"

    @classmethod
    def of_schema(cls, schema: dict[str, Any], param: str) -> AskedForm:
        """JSON of ``schema``. Raises GrammarInvalid."""
        return cls(JsonSchema.of(schema), param)


def parse_form(fields: Fields) -> AskedForm | None:
    """None for text of any form. Raises InvalidParameter."""
    asked = [_response_format(fields)]
    asked += [read(fields, name) for name, read in _GUIDED.items() if name in fields]
    # Clients of these fill in what says nothing.
    asked += [read(fields, name) for name, read in _FILLED_IN.items() if fields.raw(name)]
    asked.append(_structured(fields))
    found = [form for form in asked if form is not None]
    if len(found) > 1:
        raise InvalidParameter(found[1].param, "left out beside " + found[0].param)
    return found[0] if found else None


def _response_format(fields: Fields) -> AskedForm | None:
    form = fields.inner("response_format")
    if form is None:
        return None
    kind = form.choice("type", _KINDS)
    if kind is None:
        raise InvalidParameter("response_format.type", "one of " + ", ".join(_KINDS))
    if kind == "text":
        return None
    inner = form.inner("json_schema")
    # llama.cpp's clients write it beside the type, for either kind.
    where = form if inner is None else inner
    schema = where.document("schema", MAX_SCHEMA)
    check_unread(form, FORM)
    check_unread(where, FORM)
    if schema is None and kind == "json_object":
        return AskedForm(JsonObject())
    if schema is None:
        raise InvalidParameter("response_format.json_schema.schema", "a JSON schema")
    return AskedForm.of_schema(schema, where.path("schema"))


def _structured(fields: Fields) -> AskedForm | None:
    """What vLLM has in the place of its fields ``guided_...``."""
    inner = fields.inner("structured_outputs")
    if inner is None:
        return None
    found = [read(inner, name) for name, read in _STRUCTURED.items() if name in inner]
    if inner.flag("json_object"):
        found.append(AskedForm(JsonObject(), inner.path("json_object")))
    check_unread(inner, SPACES)
    if len(found) != 1:
        raise InvalidParameter("structured_outputs", "an object with one form")
    return found[0]


def _json(fields: Fields, name: str) -> AskedForm:
    if isinstance(fields.raw(name), str):
        return AskedForm(JsonSchema(_text(fields, name)), fields.path(name))
    return AskedForm.of_schema(fields.document(name, MAX_SCHEMA) or {}, fields.path(name))


def _regex(fields: Fields, name: str) -> AskedForm:
    return AskedForm(Regex(_text(fields, name)), fields.path(name))


def _grammar(fields: Fields, name: str) -> AskedForm:
    return AskedForm(grammar_form(_text(fields, name)), fields.path(name))


def _choice(fields: Fields, name: str) -> AskedForm:
    given, path = fields.items(name, MOST_CHOICES) or [], fields.path(name)
    texts = [as_text(text, f"{path}[{at}]", MOST_BYTES) for at, text in enumerate(given)]
    return AskedForm(Choice(tuple(texts)), path)


def _text(fields: Fields, name: str) -> str:
    return fields.text(name, MOST_BYTES) or ""


_GUIDED: Final[dict[str, Callable[[Fields, str], AskedForm]]] = {
    "guided_json": _json,
    "guided_regex": _regex,
    "guided_choice": _choice,
    "guided_grammar": _grammar,
}
_STRUCTURED: Final[dict[str, Callable[[Fields, str], AskedForm]]] = {
    name.removeprefix("guided_"): read for name, read in _GUIDED.items()
}
# llama.cpp's and text-generation-webui's.
_FILLED_IN: Final[dict[str, Callable[[Fields, str], AskedForm]]] = {
    "grammar": _grammar,
    "grammar_string": _grammar,
    "json_schema": _json,
}
