"""How large keys and values of a model can become, whatever rows go into it.

Each layer normalises its input, so a key or value is at most the norm of its row of the matrix,
times the gains of the norm, times the root of the width (Cauchy and Schwarz). Half precision ends
at 65,504; beyond that a number is infinite, and where sessions lie beside each other in one cache,
products with masked positions would carry it into all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from split_server.checkpoint.gguf.blocks import Floats, floats
from split_server.checkpoint.gguf.index import Index
from split_server.checkpoint.gguf.source import Source

# A rotation turns two numbers of at most 1 into one of at most this.
_TURNED = math.sqrt(2)


def largest_key_or_value(source: Source, index: Index, config: Mapping[str, Any]) -> float:
    """No key or value of the model exceeds this. Raises MalformedCheckpoint."""
    layers = int(config["num_hidden_layers"])
    return max(_of_layer(_Reader(source, index, number), config) for number in range(layers))


class _Reader:
    """Tensors of one layer."""

    def __init__(self, source: Source, index: Index, number: int) -> None:
        self._source, self._tensors, self._number = source, index.tensors, number

    def __contains__(self, name: str) -> bool:
        return self._name(name) in self._tensors

    def read(self, name: str) -> Floats:
        """All values, in their shape."""
        place = self._tensors[self._name(name)]
        data = self._source.read(place.offset, place.size)
        return floats(data, place.kind).reshape(place.shape)

    def _name(self, name: str) -> str:
        return f"blk.{self._number}.{name}"


def _of_layer(layer: _Reader, config: Mapping[str, Any]) -> float:
    width = int(config["head_dim"])
    gain = layer.read("attn_norm.weight")
    shift = layer.read("attn_norm.bias") if "attn_norm.bias" in layer else np.zeros_like(gain)
    if "attn_qkv.weight" in layer:
        queries = int(config["num_attention_heads"]) * width
        rows = layer.read("attn_qkv.weight")[queries:]
        return _TURNED * _largest(rows, gain, shift, np.zeros(len(rows), np.float32))
    found = []
    for name, turned in (("attn_k", _TURNED), ("attn_v", 1.0)):
        rows = layer.read(f"{name}.weight")
        bias = f"{name}.bias"
        added = layer.read(bias) if bias in layer else np.zeros(len(rows), np.float32)
        found.append(turned * _largest(rows, gain, shift, added))
    if "attn_k_norm.weight" in layer:
        largest = float(np.abs(layer.read("attn_k_norm.weight")).max())
        found[0] = _TURNED * math.sqrt(width) * largest
    return max(found)


def _largest(rows: Floats, gain: Floats, shift: Floats, added: Floats) -> float:
    """Of ``rows`` [n, H] times what a norm with ``gain`` and ``shift`` gives, and ``added``."""
    norms = np.linalg.norm(rows * gain, axis=1) * math.sqrt(rows.shape[1])
    return float((norms + np.abs(rows @ shift) + np.abs(added)).max())
