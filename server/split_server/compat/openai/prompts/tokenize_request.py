"""``POST /tokenize`` and ``/detokenize``, as vLLM's and as llama.cpp's clients ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from split_server.compat.accepted.openai import OPENAI, TOKENIZE
from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields, check_unread
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.prompts.messages import parse_messages
from split_server.compat.openai.prompts.writing import USUAL_WRITING, Writing, parse_writing
from split_server.compat.openai.tools import Tools, parse_tools

MAX_TOKENS = 1 << 20


@dataclass(frozen=True, slots=True)
class TokenizeRequest:
    """``text``, or ``messages`` and ``tools`` of a chat where it is None. ``special``: with what a
    text begins with. ``texts``: that of each token is told; ``pieces``: beside its id.
    """

    text: str | None
    special: bool
    messages: tuple[dict[str, Any], ...] = ()
    tools: Tools | None = None
    writing: Writing = USUAL_WRITING
    texts: bool = False
    pieces: bool = False


def parse_tokenize_request(fields: Fields, served: ServedModel) -> TokenizeRequest:
    """Raises InvalidParameter, UnsupportedParameter, ModelNotFound."""
    served.check_model(fields)
    if sum(name in fields for name in ("prompt", "content", "messages")) != 1:
        raise InvalidParameter("prompt", "given, or content, or messages, one of them")
    asked = _chat(fields) if "messages" in fields else _text(fields)
    check_unread(fields, OPENAI | TOKENIZE)
    return asked


def parse_detokenize_request(fields: Fields, served: ServedModel) -> tuple[int, ...]:
    """The ids. Raises InvalidParameter, UnsupportedParameter, ModelNotFound."""
    served.check_model(fields)
    ids = fields.items("tokens", MAX_TOKENS)
    known = ids is not None and all(
        type(token) is int and 0 <= token < served.vocab_size for token in ids
    )
    if ids is None or not known:
        raise InvalidParameter("tokens", f"a list of token ids below {served.vocab_size}")
    check_unread(fields, OPENAI)
    return tuple(ids)


def _chat(fields: Fields) -> TokenizeRequest:
    messages = parse_messages(fields)
    writing = parse_writing(fields, messages)
    tools, texts = parse_tools(fields), fields.flag("return_token_strs")
    return TokenizeRequest(None, writing.special, messages, tools, writing, texts)


def _text(fields: Fields) -> TokenizeRequest:
    """llama.cpp's clients call the text ``content``, and add nothing to it unless they say so."""
    plain = "prompt" in fields
    text = fields.text("prompt" if plain else "content") or ""
    name = "add_special_tokens" if plain else "add_special"
    special = fields.flag(name, default=plain)
    texts, pieces = fields.flag("return_token_strs"), fields.flag("with_pieces")
    return TokenizeRequest(text, special, texts=texts, pieces=pieces)
