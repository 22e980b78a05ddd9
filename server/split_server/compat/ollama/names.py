"""The served model by its names in Ollama's API, which have tags."""

from __future__ import annotations

from split_server.compat.openai.errors import InvalidParameter
from split_server.compat.openai.fields import Fields
from split_server.compat.openai.model import ServedModel

_TAG = ":latest"
_MAX_NAME = 512


def tagged(name: str) -> str:
    """The name as Ollama lists it."""
    return name + _TAG


def asked_model(fields: Fields, served: ServedModel) -> str:
    """The field ``model``, or ``name`` of older clients, as it was sent.

    Raises InvalidParameter, ModelNotFound.
    """
    name = fields.text("model", _MAX_NAME) or fields.text("name", _MAX_NAME)
    if not name:
        raise InvalidParameter("model", "the name of the served model")
    served.check_name(name.removesuffix(_TAG))
    return name
