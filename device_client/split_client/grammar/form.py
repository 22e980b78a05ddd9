"""Forms that a reply can be asked to have, as values: they can be compared, kept and sent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from split_client.grammar.errors import FormInvalid, GrammarInvalid
from split_client.grammar.keywords import MOST_BYTES, MOST_CHOICES


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """JSON of a schema, which is given as a JSON text itself."""

    text: str

    @classmethod
    def of(cls, schema: Mapping[str, Any]) -> JsonSchema:
        """Raises GrammarInvalid."""
        try:
            return cls(json.dumps(schema, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            raise GrammarInvalid("it is not JSON") from None

    @property
    def schema(self) -> Any:
        """The schema itself. Raises GrammarInvalid, with line and column of what is no JSON."""
        _require_short(self.text, GrammarInvalid)
        try:
            return json.loads(self.text)
        except json.JSONDecodeError as error:
            where = f"line {error.lineno}, column {error.colno}"
            raise GrammarInvalid(f"it is not JSON: {error.msg} at {where}") from None
        except (RecursionError, ValueError):
            raise GrammarInvalid("it is not JSON that can be read: too deep or too large") from None


@dataclass(frozen=True, slots=True)
class JsonObject:
    """Any JSON object."""


@dataclass(frozen=True, slots=True)
class Regex:
    """A text that a regular expression matches as a whole (Rust's syntax, without look-around)."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Lark:
    """A text of a grammar in llguidance's dialect of Lark."""

    text: str


@dataclass(frozen=True, slots=True)
class Gbnf:
    """A text of a grammar in llama.cpp's GBNF."""

    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of ``texts``, given in any sequence."""

    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        # Forms are kept by their value.
        if isinstance(self.texts, list):
            object.__setattr__(self, "texts", tuple(self.texts))


Form: TypeAlias = JsonSchema | JsonObject | Regex | Lark | Gbnf | Choice
JSON_FORMS: Final = (JsonSchema, JsonObject)
_FORMS: Final = (JsonSchema, JsonObject, Regex, Lark, Gbnf, Choice)
_LARK_MARK: Final = re.compile(r"(?m)^[ \t]*(%llguidance\b|\??start[ \t]*:(?!:))")
_TEXTS: Final[dict[str, type[JsonSchema | Regex | Lark | Gbnf]]] = {
    "json_schema": JsonSchema,
    "regex": Regex,
    "lark": Lark,
    "gbnf": Gbnf,
}


def form_of(value: Any) -> Form | None:
    """The form that a program means: a form, a schema as a map, a class with
    ``model_json_schema`` (pydantic's), or None. Raises GrammarInvalid.
    """
    if value is None or isinstance(value, _FORMS):
        return value
    if isinstance(value, Mapping):
        return JsonSchema.of(value)
    schema = getattr(value, "model_json_schema", None)
    if isinstance(value, type) and callable(schema):
        return JsonSchema.of(schema())
    raise FormInvalid(
        f"a {type(value).__name__} is no form; give a JSON schema as a dict, a class with "
        "model_json_schema, or one of JsonSchema, JsonObject, Regex, Lark, Gbnf, Choice"
    )


def grammar_form(text: str) -> Lark | Gbnf:
    """A grammar by its content: Lark has a rule ``start:``, GBNF writes its rules ``name ::=``."""
    return Lark(text) if _LARK_MARK.search(text) else Gbnf(text)


def checked_form(form: Form) -> Form:
    """``form`` within the limits that need no library. Raises GrammarInvalid."""
    match form:
        case JsonObject():
            pass
        case JsonSchema():
            _require_short(form.text, GrammarInvalid)
        case Choice(texts=texts):
            _check_choice(texts)
        case Regex(pattern=text) | Lark(text=text) | Gbnf(text=text):
            _require_text(text)
    return form


def document_of(form: Form) -> dict[str, Any]:
    """``form`` as JSON, for another process."""
    match form:
        case JsonObject():
            return {"kind": "json_object"}
        case Choice(texts=texts):
            return {"kind": "choice", "texts": list(texts)}
        case Regex(pattern=text):
            return {"kind": "regex", "text": text}
    kind = next(kind for kind, known in _TEXTS.items() if isinstance(form, known))
    return {"kind": kind, "text": form.text}


def form_in(document: Mapping[str, Any]) -> Form:
    """The form in what :func:`document_of` made. Raises FormInvalid."""
    match document:
        case {"kind": "json_object"}:
            return JsonObject()
        case {"kind": "choice", "texts": list(texts)}:
            return Choice(tuple(map(str, texts)))
        case {"kind": str(kind), "text": str(text)} if kind in _TEXTS:
            return _TEXTS[kind](text)
    raise FormInvalid("a form of an unknown kind")


def _check_choice(texts: tuple[str, ...]) -> None:
    if not texts:
        raise FormInvalid("there is nothing to choose from; give at least one text")
    if not all(isinstance(text, str) and text for text in texts):
        raise FormInvalid("a text to choose is empty; give texts of at least one character")
    if len(texts) > MOST_CHOICES:
        raise FormInvalid(f"there are {len(texts)} texts to choose from, more than {MOST_CHOICES}")
    _require_text("".join(texts))


def _require_text(text: str) -> None:
    if not isinstance(text, str) or not text.strip("\ufeff"):
        raise FormInvalid("it is empty")
    _require_short(text, FormInvalid)


def _require_short(text: str, kind: type[GrammarInvalid]) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise kind("it holds half of a surrogate pair, which is no text") from None
    if size > MOST_BYTES:
        raise kind(f"it has {size} bytes, more than {MOST_BYTES}")
