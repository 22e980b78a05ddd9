"""``POST /v1/embeddings``, and Ollama's ``/api/embed`` and ``/api/embeddings``: what is asked for.

Sources: OpenAI's API reference, Embeddings; Ollama's API reference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from split_server.compat.embeddings.known import DIMENSIONS_REASON, OLLAMA, OLLAMA_ONE, OPENAI
from split_server.compat.ollama.known import OPTIONS
from split_server.compat.ollama.names import asked_model
from split_server.compat.openai.errors import InvalidParameter, UnsupportedParameter
from split_server.compat.openai.fields import Fields, check_unread
from split_server.compat.openai.model import ServedModel
from split_server.compat.openai.prompts.texts import PromptText, parse_texts

MAX_INPUTS: Final = 1024
# Numbers of one answer, over all of its vectors.
MAX_NUMBERS: Final = 1 << 20
_MAX_DIMENSIONS = 1 << 24
# How the states of a text become one vector: their mean, or that of its last token.
Pooling: TypeAlias = Literal["mean", "last"]
POOLINGS: Final = ("mean", "last")


@dataclass(frozen=True, slots=True)
class EmbeddingsRequest:
    """``inputs``: texts or token ids; ``binary``: vectors come in base64; ``truncate``: what is too
    long is cut. ``model``: its name as it was sent.
    """

    inputs: tuple[PromptText, ...]
    pooling: Pooling
    binary: bool = False
    truncate: bool = False
    model: str = ""


def parse_embeddings_request(fields: Fields, served: ServedModel) -> EmbeddingsRequest:
    """Raises InvalidParameter, UnsupportedParameter, ModelNotFound."""
    check_unread(fields, OPENAI)
    served.check_model(fields)
    binary = fields.choice("encoding_format", ("float", "base64")) == "base64"
    inputs = _inputs(fields, served)
    _check_dimensions(fields, served, len(inputs))
    return EmbeddingsRequest(inputs, _pooling(fields), binary)


def parse_ollama_embed(fields: Fields, served: ServedModel) -> EmbeddingsRequest:
    """As :func:`parse_embeddings_request`, of Ollama's form: what is too long is cut by default."""
    check_unread(fields, OLLAMA)
    model = asked_model(fields, served)
    _check_options(fields)
    given = fields.raw("input")
    # Without texts a model is loaded in that API, which this one is.
    inputs = _inputs(fields, served) if given not in (None, "", []) else ()
    _check_dimensions(fields, served, len(inputs))
    truncate = fields.flag("truncate", True)
    return EmbeddingsRequest(inputs, _pooling(fields), truncate=truncate, model=model)


def parse_ollama_embeddings(fields: Fields, served: ServedModel) -> EmbeddingsRequest:
    """The older path of Ollama's, of one text."""
    check_unread(fields, OLLAMA_ONE)
    model = asked_model(fields, served)
    _check_options(fields)
    text = fields.text("prompt")
    inputs = (text,) if text else ()
    return EmbeddingsRequest(inputs, _pooling(fields), truncate=True, model=model)


def _check_options(fields: Fields) -> None:
    options = fields.inner("options")
    if options is not None:
        check_unread(options, OPTIONS)


def _pooling(fields: Fields) -> Pooling:
    return "last" if fields.choice("pooling", POOLINGS) == "last" else "mean"


def _check_dimensions(fields: Fields, served: ServedModel, inputs: int) -> None:
    size = served.hidden_size
    if fields.whole("dimensions", 1, _MAX_DIMENSIONS) not in (None, size):
        raise UnsupportedParameter("dimensions", f"{DIMENSIONS_REASON}, {size}")
    if inputs * size > MAX_NUMBERS:
        most = MAX_NUMBERS // size
        raise InvalidParameter("input", f"at most {most} texts, as each has {size} numbers")


def _inputs(fields: Fields, served: ServedModel) -> tuple[PromptText, ...]:
    return parse_texts(fields.raw("input"), "input", served, MAX_INPUTS)
