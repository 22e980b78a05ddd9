"""The served model as Ollama's API describes it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from split_server.checkpoint.texts import chat_template
from split_server.compat.ollama.answer import stamp
from split_server.compat.ollama.names import tagged
from split_server.compat.openai.model import ServedModel
from split_server.compat.parts import Compat

# The level of Ollama's API that is followed, for clients that compare it.
VERSION = "0.12.0"
# The model stays for as long as the server runs; Ollama writes that as a time far away.
_EXPIRES = "2318-01-01T00:00:00Z"
_DTYPES = {"f32": "F32", "bf16": "BF16", "f16": "F16"}
_UNITS = ((1e9, "B"), (1e6, "M"), (1e3, "K"))


@dataclass(frozen=True, slots=True)
class Described:
    """``size``: bytes of the weights; ``on_gpu``: whether they lie on one."""

    served: ServedModel
    digest: str
    size: int
    parameters: int
    family: str
    quantization: str
    template: str
    sizes: dict[str, int]
    on_gpu: bool
    licence: str

    def tags(self) -> dict[str, Any]:
        """``GET /api/tags``."""
        return {"models": [self._named() | {"modified_at": stamp(self.served.created)}]}

    def running(self) -> dict[str, Any]:
        """``GET /api/ps``."""
        more = {
            "expires_at": _EXPIRES,
            "size_vram": self.size if self.on_gpu else 0,
            "context_length": self.served.max_context,
        }
        return {"models": [self._named() | more]}

    def shown(self) -> dict[str, Any]:
        """``POST /api/show``."""
        info: dict[str, Any] = {
            "general.architecture": self.family,
            "general.basename": self.served.name,
            "general.parameter_count": self.parameters,
        }
        info |= {f"{self.family}.{name}": size for name, size in self.sizes.items()}
        return {
            "modelfile": "",
            "license": self.licence,
            "parameters": self._parameters(),
            "template": self.template,
            "details": self._details(),
            "model_info": info,
            "capabilities": self._capabilities(),
            "modified_at": stamp(self.served.created),
        }

    def _named(self) -> dict[str, Any]:
        name = tagged(self.served.name)
        return {
            "name": name,
            "model": name,
            "size": self.size,
            "digest": self.digest,
            "details": self._details(),
        }

    def _details(self) -> dict[str, Any]:
        return {
            "parent_model": "",
            "format": "safetensors",
            "family": self.family,
            "families": [self.family],
            "parameter_size": _counted(self.parameters),
            "quantization_level": self.quantization,
        }

    def _parameters(self) -> str:
        """How the model's makers sample from it, a line each."""
        defaults = self.served.defaults
        named = {
            "temperature": defaults.temperature,
            "top_k": defaults.top_k,
            "top_p": defaults.top_p,
            "min_p": defaults.min_p,
            "repeat_penalty": defaults.repetition_penalty,
        }
        return "\n".join(f"{name} {value:g}" for name, value in named.items())

    def _capabilities(self) -> list[str]:
        # A template without a place for tools leaves them out.
        tools = ["tools"] if "tools" in self.template else []
        return ["completion", *tools, "embedding"]


def described(compat: Compat, served: ServedModel) -> Described:
    """Reads the checkpoint's texts. Raises MalformedCheckpoint."""
    info, checkpoint = compat.generator.info, compat.checkpoint
    tensors = checkpoint.tensors.values()
    return Described(
        served,
        compat.local.ends.manifest.digest,
        sum(file.stat().st_size for file in checkpoint.weight_files),
        sum(math.prod(tensor.shape) for tensor in tensors),
        info.family,
        _DTYPES.get(info.dtype, info.dtype),
        chat_template(checkpoint) or "",
        {
            "context_length": info.max_context,
            "embedding_length": info.hidden_size,
            "block_count": info.num_layers,
            "attention.head_count": info.num_heads,
            "vocab_size": info.vocab_size,
        },
        "triton" in compat.kernels.get("attention", ""),
        checkpoint.licence or "",
    )


def _counted(count: int) -> str:
    for size, unit in _UNITS:
        if count >= size:
            return f"{count / size:.1f}{unit}"
    return str(count)
