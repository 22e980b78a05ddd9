"""The one model that is served, as requests and answers name it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from split_client.generation.sampling.params import SamplingParams
from split_server.compat.openai.errors import ModelNotFound
from split_server.compat.openai.fields import Fields

ALIAS = "gatelink"
_MAX_NAME = 512


@dataclass(frozen=True, slots=True)
class ServedModel:
    """``created``: Unix time at which serving began; ``fingerprint`` changes with the weights;
    ``defaults``: how the model's makers sample from it; ``hidden_size``: numbers of a hidden state.
    """

    name: str
    created: int
    fingerprint: str
    vocab_size: int
    max_context: int
    defaults: SamplingParams
    hidden_size: int = 0

    def check_name(self, name: str) -> None:
        """Accept the name, its last part and the alias. Raises ModelNotFound."""
        if name not in (self.name, self.name.rpartition("/")[2], ALIAS):
            raise ModelNotFound(name, self.name)

    def check_model(self, fields: Fields) -> None:
        """Check the field ``model``; a request without one, or with an empty one, means this model.

        Raises InvalidParameter, ModelNotFound.
        """
        name = fields.text("model", _MAX_NAME)
        if name:
            self.check_name(name)

    def document(self) -> dict[str, Any]:
        """The model as OpenAI lists it, and its context in tokens."""
        return {
            "id": self.name,
            "object": "model",
            "created": self.created,
            "owned_by": ALIAS,
            "context_length": self.max_context,
            # vLLM's name for it.
            "max_model_len": self.max_context,
        }

    def listing(self) -> dict[str, Any]:
        """The list of models."""
        return {"object": "list", "data": [self.document()]}
